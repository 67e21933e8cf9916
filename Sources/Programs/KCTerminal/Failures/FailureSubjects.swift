internal import KCBackupEngine
internal import KCBackupTasks
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecretService
internal import KCStoreTasks

extension Session {
    /// Converts an error of the layers below, and adds what on this machine may help.
    package func failure(of error: any Error) -> Failure {
        let failure = Failure(error, about: subject)
        do {
            return try better(failure) ?? failure
        } catch SecretServiceFailure.interrupted {
            return .secretService(.interrupted)
        } catch {
            // The failure itself says more than why this lookup failed.
            return failure
        }
    }

    private func better(_ failure: Failure) throws -> Failure? {
        switch failure {
        case .keychain(.notFound, let name?): return try missing(LocalKeychain(name, in: machine))
        case .keychain(.otherDevice(let device), let name?):
            return try machine.retiredKey(of: device).map {
                .refused(.retiredKey(keychain: name, device: device, path: $0))
            }
        case .restore(.unencryptedElsewhere(let device), _):
            return try machine.retiredKey(of: device).map { .refused(.retiredArchiveKey(device: device, path: $0)) }
        default: return nil
        }
    }

    /// A failure that says more of a missing keychain; nil if nothing is known of it.
    private func missing(_ keychain: LocalKeychain) throws -> Failure? {
        if let gone = GoneKeychain.left(of: keychain, in: machine) { return .refused(.noKeychain(gone)) }
        if let meant = try keychain.meantStore(in: machine) { return .misnamed(keychain.name, meant) }
        return try keychain.keyringHint(in: self).map { .noKeychain(name: keychain.name, $0) }
    }
}
