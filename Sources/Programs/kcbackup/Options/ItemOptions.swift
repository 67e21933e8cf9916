internal import ArgumentParser
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText
internal import KCTerminal

/// Common attributes with their own options, and all others by code.
struct AttributeOptions: ParsableArguments {
    @Option(name: OptionName.service.name, help: "The service (svce), of generic passwords.")
    var service: String?

    @Option(name: OptionName.server.name, help: "The server (srvr), of internet passwords.")
    var server: String?

    @Option(name: OptionName.account.name, help: "The account (acct).")
    var account: String?

    @Option(name: OptionName.label.name, help: "The label (labl).")
    var label: String?

    @Option(name: OptionName.group.name, help: "The access group (agrp).")
    var group: String?

    @Option(
        name: OptionName.accessible.name,
        help: ArgumentHelp("When and where it may be read (pdmn), as in 'ak' or 'WhenUnlocked'.", valueName: "word"))
    var accessible: Accessibility?

    @Option(
        name: OptionName.access.name,
        help: ArgumentHelp(
            "What each read of the secret asks for (accc): 'user-presence' or 'device-passcode'.", valueName: "word"))
    var access: AccessConstraint?

    @Option(
        name: OptionName.attribute.name,
        help: ArgumentHelp(
            "Any attribute, by code or word: NAME=VALUE, or NAME:base64=VALUE for bytes.", valueName: "name=value"))
    var attribute: [String] = []

    /// Returns all given attributes by code.
    ///
    /// - Throws: `UsageProblem`, `ItemProblem` (`unknownAttribute`, `wrongKind`, `unknownAccessibility`).
    func collected() throws -> Attributes {
        var attributes = Attributes()
        let named: [(AttributeCode, String?)] = [
            (.svce, service), (.srvr, server), (.acct, account), (.labl, label), (.agrp, group),
            (.pdmn, accessible?.rawValue), (.accc, access?.rawValue),
        ]
        if let server, server.exact.contains("://") {
            throw UsageProblem(
                "the value of '\(OptionName.server.spelling)' is a URL, and a server is a name, as in 'example.org'",
                hint: "protocol, port and path are attributes of their own: "
                    + "'\(OptionName.attribute.spelling) protocol=htps \(OptionName.attribute.spelling) path=/login'")
        }
        for (code, text) in named { attributes[code] = text.map { .text($0) } }
        for word in attribute {
            let assignment = try AttributeAssignment(word, of: .attribute)
            guard attributes[assignment.code] == nil else { throw UsageProblem.attributeTwice(assignment.code) }
            attributes[assignment.code] = assignment.value
        }
        return attributes
    }
}

/// Selects items that satisfy all conditions.
struct QueryOptions: ParsableArguments {
    @Option(
        name: OptionName.class.name,
        help: ArgumentHelp("The class: genp, inet, cert or keys.", valueName: "class"))
    var itemClass: ItemClass?

    @OptionGroup
    var attributes: AttributeOptions

    @Option(name: OptionName.uuid.name, help: "The UUID.")
    var uuid: ItemUUID?

    @Flag(name: OptionName.synchronizable.name, help: "Only synchronizable items.")
    var synchronizable = false

    /// Returns the query.
    ///
    /// - Throws: as `AttributeOptions.collected`.
    func query() throws -> ItemQuery {
        let conditions = try attributes.collected().entries.map { ($0.code, $0.value) }
        return ItemQuery(
            itemClass: itemClass, uuid: uuid, attributes: Dictionary(uniqueKeysWithValues: conditions),
            synchronizable: synchronizable ? .yes : .any)
    }

    /// Returns the condition that one of an item's names contains `text`; with nil, every item passes.
    static func search(_ text: String?) throws(UsageProblem) -> ItemFilter {
        if text == "" { throw UsageProblem("the text to search for is empty") }
        var filter = ItemFilter()
        filter.text = text
        return filter
    }

    /// Returns the same conditions as a filter for items in memory, with the additional condition `text`; nil if there
    /// are no conditions.
    ///
    /// - Throws: as `query`, and `UsageProblem` for an empty text.
    func filter(_ text: String? = nil) throws -> ItemFilter? {
        var filter = try Self.search(text)
        filter.itemClass = itemClass
        filter.uuid = uuid
        for entry in try attributes.collected().entries { filter.attributes[entry.code] = entry.value }
        filter.isSynchronizable = synchronizable
        return filter.isEmpty ? nil : filter
    }

    /// Returns the query, which must have a condition.
    ///
    /// - Throws: as `query`, and `UsageProblem.noCondition`.
    func condition() throws -> ItemQuery {
        let query = try query()
        let isEmpty = query.itemClass == nil && query.uuid == nil && query.attributes.isEmpty && !synchronizable
        if isEmpty { throw UsageProblem.noCondition }
        return query
    }
}
