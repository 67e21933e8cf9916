internal import KCByteStreams
package import KCKeychainModel

/// Parts of records that are damaged, while the other parts are read.
extension RecordCollector {
    /// Reads a part of a record: if it is damaged, nothing of it may have been added, and it is refused by name.
    ///
    /// - Parameters:
    ///   - part: the name of the part in its record; foreign text.
    ///   - record: the name of the record in its program; foreign text.
    /// - Returns: false if it is damaged.
    /// - Throws: what `body` throws, unless it says that the part is damaged.
    @discardableResult
    package func part<E: Error>(
        _ part: String, of record: String, _ body: () throws(E) -> Void
    ) throws(E) -> Bool {
        do throws(E) {
            try body()
            return true
        } catch {
            switch error as? ForeignFailure {
            case .damaged(let rule), .damagedLine(_, let rule):
                refuse(part, of: record, rule)
            case .notUTF8: refuse(part, of: record, "it is not UTF-8")
            default: throw error
            }
            return false
        }
    }

    /// Refuses a part of a record by name.
    ///
    /// - Parameters:
    ///   - rule: what is wrong with it; contains no foreign text.
    ///   - kind: as in `ForeignContents.Refused`.
    package func refuse(_ part: String, of record: String, _ rule: String, kind: String = "part of a record") {
        refuse("\(record.isEmpty ? "untitled" : record): \(part)", .damaged(rule), kind: kind)
    }

    /// Names a one-time password whose text is imported, and gives no codes.
    package func refuseCode(of record: String) {
        refuse("\(record.isEmpty ? "untitled" : record): one-time password", .kept("no code can be made of it"))
    }

    /// A date of a record, by default in seconds since 1970; one that is there and cannot be read is counted.
    package func date(
        _ value: ForeignJSON.Value?, of json: ForeignJSON,
        _ read: (Int64?) -> Timestamp? = { ForeignDate.seconds($0) }
    ) -> Timestamp? {
        guard let value, !json.isEmpty(value) else { return nil }
        let date = read(json.integer(value))
        json.skip(value)
        return counted(date)
    }

    /// A date that its file states; counted if it cannot be read.
    package func counted(_ date: Timestamp?) -> Timestamp? {
        if date == nil { leaveOut("unreadable date") }
        return date
    }
}
