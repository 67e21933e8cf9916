internal import KCItemStores
internal import KCStoreTasks
internal import KCTerminal

// The failures of a backup of several stores, as far as they are of one of them.

extension Session {
    /// Why something failed for one of several stores; if several keychains have a passcode each, no hint says to give
    /// one, which would be refused.
    ///
    /// - Parameter keychains: the keychains of the run that have a passcode; nil for all of this device.
    func failure(
        of error: any Error, for use: UsageProblem.PasscodeUse, among keychains: [String]? = nil
    ) -> Failure {
        let failure = failure(of: error)
        guard failure.explanation.asksForPasscode else { return failure }
        do {
            let asking = try keychains ?? machine.keychainsWithPasscode()
            return asking.count > 1 ? .passcodeOfOne(failure, use) : failure
        } catch {
            // The failure of the run says more than why the others are not known.
            return failure
        }
    }

    /// Why the backup of one of several stores failed; no hint says to give a passcode that would be refused, or not be
    /// used.
    func backupFailure(of error: any Error, in name: String) -> Failure {
        guard DesktopKeyring(name) != nil else { return failure(of: error, for: .backup) }
        let failure = failure(of: error)
        return failure.explanation.asksForPasscode ? .passcodeOfOne(failure, .keyring) : failure
    }
}
