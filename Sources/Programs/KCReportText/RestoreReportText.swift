package import KCBackupEngine
internal import KCKeychainModel

extension DrillReport {
    /// The line that reports the result.
    package var line: String { "drilled: \(counted(compared, "item")) restored and compared\n" }

    /// The JSON object "drill".
    package var json: JSONValue {
        [
            "compared": .number(compared),
            "staysBehind": .list(
                stayingBehind.map { JSONValue.item($0.item).adding([("reason", .text($0.reason.rawValue))]) }),
            "failing": .failing(failing),
        ]
    }
}

extension DrillReport.Difference {
    /// The difference as text.
    package var words: String {
        switch self {
        case .missing: "it is missing"
        case .attributes: "its attributes are others"
        case .secret: "its secret is another"
        case .unexpected: "it should have stayed behind"
        }
    }
}

extension RestoreCounts {
    /// The JSON object "plan".
    package var json: JSONValue {
        [
            "create": .number(create), "update": .number(update), "same": .number(same), "keep": .number(keep),
            "stay-behind": .number(stayBehind), "fail": .number(fail), "not-selected": .number(notSelected),
            "remove": .number(remove),
        ]
    }
}

extension RestoreReport {
    /// The operation that a report is about.
    package enum Deed: Sendable {
        case restored
        case imported

        fileprivate var infinitive: String { self == .restored ? "restore" : "import" }
        package var participle: String { self == .restored ? "restored" : "imported" }
    }

    /// The numbers of items, by what becomes of them.
    ///
    /// - Parameters:
    ///   - deed: what was done.
    ///   - target: what is restored into, as text.
    ///   - isMade: false if the keychain did not exist, and none of the selected items could be written to it.
    package func summary(_ deed: Deed = .restored, into target: String, isMade: Bool) -> String {
        let what = numbers(
            deed, (counts.stayBehind, "to stay behind", "stayed behind"), (counts.fail, "to fail", "failed"),
            (counts.notSelected, "not asked for", "not asked for"))
        if !isMade {
            return "\(target) \(isDryRun ? "would not be" : "was not") made: \(what)"
        }
        let isNothing = counts.create + counts.update + counts.remove == 0
        let done =
            isDryRun
            ? "would \(deed.infinitive)" + (isNothing ? " nothing" : "")
            : isNothing ? "nothing \(deed.participle)" : deed.participle
        return "\(done) into \(target): \(what)"
    }

    /// The numbers of items of an import into a keychain, by what becomes of them.
    ///
    /// - Parameters:
    ///   - refused: how many of the file no keychain can hold.
    ///   - staying: how many of the file stay behind.
    package func summary(intoKeychain keychain: String, refused: Int, staying: Int) -> String {
        let what = numbers(
            .imported, (counts.fail, "to fail", "failed"), (refused, "refused", "refused"),
            (staying, "to stay behind", "stayed behind"))
        return "\(isDryRun ? "would import" : "imported") into keychain \(quoted(keychain)): \(what)"
    }

    /// - Parameter others: numbers, each with the words for what will be done, and for what was done.
    private func numbers(_ deed: Deed, _ others: (Int, String, String)...) -> String {
        let parts =
            [
                (counts.remove, "to remove", "removed"), (counts.create, "to create", "created"),
                (counts.update, "to replace", "replaced"), (counts.same, "the same", "the same"),
                (counts.keep, "to keep", "kept"),
            ] + others
        let told = parts.filter { $0.0 > 0 }.map { "\($0.0) \(isDryRun ? $0.1 : $0.2)" }
        return told.isEmpty ? "nothing to \(deed.infinitive)" : told.joined(separator: ", ")
    }

    /// The JSON object of `restore`, and of `import` into the desktop keyring.
    ///
    /// - Parameters:
    ///   - source: what was restored, as members.
    ///   - keychain: the name of what is restored into.
    ///   - changes: the items that are changed or kept.
    ///   - unmapped: what the target does not store.
    package func json(
        of source: [(String, JSONValue?)], keychain: String, _ changes: RestoreChanges.Lists, unmapped: JSONValue
    ) -> JSONValue {
        let members: [(String, JSONValue?)] = [
            ("keychain", .text(keychain)), ("dryRun", .flag(isDryRun)), ("contents", contents.json),
            ("notOpened", .number(notOpened)),
            ("plan", counts.json), ("unmapped", unmapped),
            ("vanishing", .list(vanishing.map { .item($0) })),
            ("created", .items(changes.created)), ("replaced", .items(changes.replaced)),
            ("kept", .items(changes.kept)),
            (
                "staysBehind",
                .list(
                    stayingBehind.map { JSONValue.item($0.item).adding([("reason", .text($0.reason.rawValue))]) }
                )
            ),
            ("failing", .failing(failing)),
        ]
        return .members(source + members)
    }

    /// The JSON object of `import` into a keychain.
    ///
    /// - Parameters:
    ///   - path: the file, as the user named it.
    ///   - format: the name of its format.
    ///   - contents: the JSON object "holds".
    package func json(
        of path: String, _ format: String, holding contents: JSONValue, keychain: String
    ) -> JSONValue {
        let kept =
            imported.keptOthers.entries.map { ($0, true) } + imported.keptAlike.entries.map { ($0, false) }
        return [
            "file": .text(path), "format": .text(format), "keychain": .text(keychain), "dryRun": .flag(isDryRun),
            "holds": contents, "plan": counts.json,
            "replaced": .list(imported.replaced.entries.map { .item($0.item) }),
            "kept": .list(
                kept.sorted { $0.0.precedes($1.0) }.map { item, isOther in
                    JSONValue.item(item).adding([("otherSecret", .flag(isOther))])
                }),
            "unclear": .list(imported.unclear.entries.map { .item($0) }),
            "beside": .list(imported.beside.entries.map { .item($0) }), "failing": .failing(failing),
        ]
    }
}

extension JSONValue {
    /// The items that cannot be written.
    fileprivate static func failing(_ items: [(item: Item, problem: RestoreAction.Problem)]) -> JSONValue {
        .list(items.map { JSONValue.item($0.item).adding([("problem", .text($0.problem.rawValue))]) })
    }
}
