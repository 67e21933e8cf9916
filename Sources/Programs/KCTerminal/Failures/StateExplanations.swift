internal import KCByteStreams
internal import KCHomeFiles
package import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText

extension Failure {
    /// - Parameter store: the store as named by the user.
    package init(_ failure: StateFailure, of store: String) {
        self =
            switch failure {
            case .none(nil):
                .refused(
                    Refusal(
                        .notFound, "no earlier state of \(storeWords(store)) is kept",
                        hint: "one is kept before each command that changes items",
                        "'kcbackup restore ARCHIVE\(storeOption(store))' restores a backup"))
            case .none(.some):
                .refused(
                    Refusal(
                        .notFound, "there is no such state of \(storeWords(store))",
                        hint: "'kcbackup undo \(OptionName.list.spelling)\(storeOption(store))' shows those that are "
                            + "kept"))
            case .present(let name):
                .refused(
                    Refusal(
                        .notFound,
                        "there is nothing to take back: the state of \(displayed(name, limit: 100)) is the present one of "
                            + "\(storeWords(store))",
                        hint:
                            "'kcbackup undo \(OptionName.list.spelling)\(storeOption(store))' shows all states that are "
                            + "kept"))
            case .unreadable(let state, let cause):
                .ofState(Failure(cause, about: Subject(file: state.path)), state: state.name, of: store)
            case .otherKeychain(nil):
                .refused(
                    Refusal(
                        .refused,
                        "\(storeWords(store)) does not open, and the states that are kept may be of another one that was "
                            + "there before it",
                        hint: "'kcbackup undo \(OptionName.list.spelling)\(storeOption(store))' shows them, and "
                            + "'kcbackup undo STATE\(storeOption(store))' puts one of them there"))
            case .otherKeychain(.some(let place)):
                .refused(
                    Refusal(
                        .refused,
                        "\(storeWords(store)) does not open, and the states that are kept are of the one that is now "
                            + "\(quoted(place))",
                        hint: "'kcbackup undo \(OptionName.list.spelling)\(storeOption(store))' shows them, and "
                            + "'kcbackup undo STATE\(storeOption(store))' puts one of them there"))
            case .otherPasscode(let path):
                .refused(
                    Refusal(
                        .refused,
                        "the passcode was changed since that state was kept, so it cannot be brought back as it is",
                        hint: "with the passcode it had then, 'kcbackup create \(OptionName.keychain.spelling) "
                            + "\(shellWord(path))' makes an archive of it"))
            case .notKept(let cause): .notKept(Failure(cause))
            case .unkeepable(let label):
                .refused(Refusal(.damaged, "item \(quoted(label)) is too large to be kept"))
            }
    }
}

/// Returns a store for use in a sentence.
///
/// - Parameter name: the store as named by the user.
package func storeWords(_ name: String) -> String {
    if let root = HomeRoot(storeName: name) { return root.words }
    return DesktopKeyring(name).map { desktopWords(collection: $0.label) } ?? "keychain \(quoted(name))"
}

/// Returns the option that names a store in a hint; empty if no store is known.
package func storeOption(_ name: String) -> String {
    name.isEmpty ? "" : " \(OptionName.keychain.spelling) \(shellWord(name))"
}

/// Returns `storeOption` for a name that needs no quotes of the shell, which would end those around the hint.
package func unquotedStoreOption(_ name: String) -> String {
    let option = storeOption(name)
    return option.exact.contains("'") ? "" : option
}

/// Says what to do about an item that has the unique key of a new one.
package func sameKeyHint(_ store: String) -> String {
    let option = unquotedStoreOption(store)
    return "'kcbackup item list\(option)' shows the items, and 'kcbackup item update …\(option)' changes one"
}

/// Explains why a kept state cannot be read.
///
/// - Parameter store: as named by the user.
package func explainState(_ failure: Failure, _ state: String, of store: String) -> Explanation {
    let words = "state \(displayed(state, limit: 100)) of \(storeWords(store))"
    let others =
        "'kcbackup undo \(OptionName.list.spelling)\(storeOption(store))' shows the others, and 'kcbackup undo "
        + "STATE\(storeOption(store))' brings one of them back"
    let cause = failure.explanation
    return switch failure {
    // A state is no keychain that the user knows.
    case .keychain(.damaged(let rule), name: _): Explanation(.damaged, "\(words) is damaged: \(rule)", hint: others)
    case .keychain(.notAKeychain(let mismatch), name: _):
        Explanation(.damaged, "\(words) is damaged: \(mismatch.rawValue)", hint: others)
    case .keychain, .archive, .stream, .age: Explanation(cause.status, "\(words): \(cause.message)", hint: others)
    default: cause.prefixed("\(words): ")
    }
}
