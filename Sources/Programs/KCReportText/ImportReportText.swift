package import KCBackupEngine
internal import KCKeychainModel

extension RestoreReport {
    /// The numbers of items, by what becomes of them.
    ///
    /// - Parameters:
    ///   - keychain: what is imported into.
    ///   - refused: how many of the file no keychain can hold.
    ///   - staying: how many of the file stay behind.
    package func importSummary(into keychain: String, refused: Int, staying: Int) -> String {
        let counts = counts
        let parts: [(Int, String, String)] = [
            (counts.create, "to create", "created"), (counts.update, "to replace", "replaced"),
            (counts.same, "the same", "the same"), (counts.keep, "to keep", "kept"),
            (counts.fail, "to fail", "failed"), (refused, "refused", "refused"),
            (staying, "to stay behind", "stayed behind"),
        ]
        let told = parts.filter { $0.0 > 0 }.map { "\($0.0) \(isDryRun ? $0.1 : $0.2)" }
        let what = told.isEmpty ? "nothing to import" : told.joined(separator: ", ")
        return "\(isDryRun ? "would import" : "imported") into keychain \(quoted(keychain)): \(what)"
    }

    /// The JSON object of `import`.
    ///
    /// - Parameters:
    ///   - path: the file, as the user named it.
    ///   - format: the name of its format.
    ///   - contents: the JSON object "holds".
    package func importJSON(
        of path: String, _ format: String, holding contents: JSONValue, keychain: String
    ) -> JSONValue {
        let kept = (imported.keptOthers.entries.map { ($0, true) } + imported.keptAlike.entries.map { ($0, false) })
            .sorted {
                $0.0.precedes($1.0)
            }
        return .members([
            ("file", .text(path)), ("format", .text(format)), ("keychain", .text(keychain)),
            ("dryRun", .flag(isDryRun)), ("holds", contents),
            ("plan", counts.json), ("replaced", .list(imported.replaced.entries.map { .item($0.item) })),
            ("kept", .list(kept.map { JSONValue.item($0.0).adding([("otherSecret", .flag($0.1))]) })),
            ("unclear", .list(imported.unclear.entries.map { .item($0) })),
            ("beside", .list(imported.beside.entries.map { .item($0) })),
            (
                "failing",
                .list(failing.map { JSONValue.item($0.item).adding([("problem", .text($0.problem.rawValue))]) })
            ),
        ])
    }
}

/// Returns the plural of a kind's name: "entry without a password" becomes "entries without a password".
package func plural(_ kind: String) -> String {
    let end = [" without ", " with ", " of ", " in ", " that ", " for ", " beside "].compactMap {
        kind.firstRange(of: $0)?.lowerBound
    }
    .min()
    let noun = String(kind[..<(end ?? kind.endIndex)])
    let rest = kind[(end ?? kind.endIndex)...]
    let vowels = "aeiou"
    if noun.hasSuffix("y"), let before = noun.dropLast().last, !vowels.contains(before) {
        return noun.dropLast() + "ies" + rest
    }
    if ["s", "x", "ch", "sh"].contains(where: noun.hasSuffix) { return noun + "es" + rest }
    return noun + "s" + rest
}
