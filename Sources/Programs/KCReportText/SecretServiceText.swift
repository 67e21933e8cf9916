internal import KCKeychainModel
package import KCSecretService

/// The words for items that could not be read.
package enum LeftOut: String {
    case ofArchive = "not in the archive"
    case ofList = "left out"
}

extension Unreadable {
    /// The words for what could not be read, and its name; nil for a collection, which is named within the words.
    package func told(_ leftOut: LeftOut) -> (what: String, name: String?) {
        let missing = leftOut.rawValue
        return switch self {
        case .lockedCollection(let label, let items):
            (
                "collection \(quoted(label)) is locked: "
                    + (items == 0 ? "its items are" : items == 1 ? "its item is" : "its \(items) items are")
                    + " \(missing)", nil
            )
        case .lockedItem(let collection, let label):
            ("\(missing), since it is locked", "\(quoted(label)) in collection \(quoted(collection))")
        case .hashedItem(let collection, let label):
            ("\(missing), since its attributes are hashes", "\(quoted(label)) in collection \(quoted(collection))")
        case .attributeTwice(let label): ("\(missing), since it has an attribute twice", quoted(label))
        case .missingItem(let collection, let item):
            (
                "\(missing), since the Secret Service lists it and does not return it",
                "\(quoted(item)) in collection \(quoted(collection))"
            )
        case .missingCollection(let path):
            (
                "the Secret Service lists collection \(quoted(path)), and does not return it: its items are \(missing)",
                nil
            )
        case .unfit(let label): ("\(missing), since it is over a limit", quoted(label))
        }
    }
}

extension CollectionSummary {
    /// The collection and the number of its items.
    package var words: String {
        let marks = [isDefault ? "default" : nil, isLocked ? "locked" : nil].compactMap { $0 }
        return "collection \(quoted(label)): "
            + (isLocked && items == 0 ? "number of items unknown" : counted(items, "item"))
            + (marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))")
    }

    /// The JSON object "collection".
    package var json: JSONValue {
        .members([
            ("label", .text(label)), ("default", .flag(isDefault)), ("locked", .flag(isLocked)),
            ("items", .number(items)),
        ])
    }
}
