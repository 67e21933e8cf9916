internal import ArgumentParser
internal import BackupArchive
internal import ByteStreams
internal import Glibc
internal import KeychainModel
internal import KeychainStore

/// `kcbackup item import`.
struct ItemImportCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the items of a JSON lines file: all of them, or none.",
        discussion: """
            One JSON object a line, with its secret in the clear: make the file readable by you alone, and delete it \
            when it has served. docs/json.md describes the format.

            EXAMPLES:
              kcbackup item import items.jsonl
            """)

    @Argument(help: "The file.", completion: .file(extensions: ["jsonl"]))
    var file: String

    @OptionGroup
    var keychain: KeychainOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        session.subjects.path = file
        let input = try OpenFile.reading(session.world.resolve(file))
        if try input.status().st_mode & 0o077 != 0 {
            session.warn("\(quoted(file)) can be read by others, and holds secrets; if they are real, run 'chmod 600'")
        }
        let store = try keychain.openUnlocked(in: session)
        let progress = Progress("importing items", in: session)
        let counts = try store.write { writer in
            var lines = LineReader(try FileSlice(whole: input))
            var counts = ItemCounts()
            while try Self.advance(&lines) {
                if lines.withLine(isBlank) { continue }
                let itemClass = try add(lines, to: writer, now: session.now)
                counts[itemClass] += 1
                if counts.total > ItemLimits.itemCount {
                    throw StreamFailure(.reading, .limitExceeded("items", found: nil, allowed: ItemLimits.itemCount))
                }
                progress.step()
            }
            return counts
        }
        progress.finish()
        session.note("\(counted(counts.total, "item")) imported")
        if style.json { try session.result(["imported": .counts { counts[$0] }], []) }
        return .ok
    }

    /// Bytes of one line: the largest item, with room for an encoding that escapes everything.
    private static let lineLimit = ItemLimits.metadataLineSize + 6 * ItemLimits.secretSize

    private static func advance(_ lines: inout LineReader<FileSlice>) throws -> Bool {
        do throws(LineFailure) {
            return try lines.advance(limit: lineLimit) != nil
        } catch {
            switch error {
            case .tooLong(let line): throw Failure.importLine(line, .tooLong(limit: lineLimit))
            case .stream(let failure): throw failure
            }
        }
    }

    private func add(
        _ lines: borrowing LineReader<FileSlice>, to writer: KeychainWriter, now: Timestamp
    ) throws(Failure) -> ItemClass {
        let number = lines.number
        do {
            let parsed = try lines.withLine { bytes throws(ImportLine.Problem) in try ImportLine(bytes) }
            try writer.add(parsed.draft, secret: parsed.secret, now: now)
            return parsed.draft.itemClass
        } catch let problem as ImportLine.Problem {
            throw .importLine(number, .line(problem))
        } catch let error as KeychainStoreError {
            throw .importLine(number, .store(error))
        } catch {
            throw .unforeseen(type: "\(type(of: error))")
        }
    }
}

/// True for a line of white space, which is skipped.
private func isBlank(_ line: borrowing Span<UInt8>) -> Bool {
    line.indices.allSatisfy { [0x20, 0x09, 0x0d].contains(line[$0]) }
}
