internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCKeychainStore

extension Failure {
    /// - Parameter store: the store as named by the user.
    init(_ failure: StateFailure, of store: String) {
        self =
            switch failure {
            case .none(let name): .refused(.noState(name, of: store))
            case .present(let name): .refused(.stateIsPresent(keychain: storeWords(store), state: name))
            case .unreadable(let state, let cause):
                .ofState(Failure(cause, Subjects(path: state.path)), state: state.name, of: store)
            case .otherPasscode(let path): .refused(.stateOfOtherPasscode(path: path))
            case .notKept(let cause): .notKept(Failure(cause, Subjects()))
            case .unkeepable(let label): .refused(.unkeepable(label: label))
            }
    }
}

/// Returns a store for use in a sentence.
///
/// - Parameter name: the store as named by the user.
func storeWords(_ name: String) -> String {
    guard let keyring = DesktopKeyring(name) else { return "keychain \(quoted(name))" }
    return keyring.isAll ? "the desktop keyring" : keyring.words
}

/// Returns the option that names a store in a hint; empty for a keychain.
func keyringOption(_ name: String) -> String {
    DesktopKeyring(name) == nil ? "" : " \(OptionName.keychain.spelling) \(shellWord(name))"
}

/// Explains why a kept state cannot be read.
///
/// - Parameter store: as named by the user.
func explainState(_ failure: Failure, _ state: String, of store: String) -> Explanation {
    let words = "state \(displayed(state, limit: 100)) of \(storeWords(store))"
    let others =
        "'kcbackup undo \(OptionName.list.spelling)\(keyringOption(store))' shows the others, and 'kcbackup undo "
        + "STATE\(keyringOption(store))' brings one of them back"
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
