package import KCSecretService

extension Machine {
    /// Returns the user's session bus.
    package func sessionBus() throws(SecretServiceFailure) -> SessionBus {
        try SessionBus(environment: environment, runtimeFolder: userRuntimeFolder)
    }

    /// True if a Secret Service is running and may have items.
    ///
    /// Starts and opens nothing, and reports no errors.
    ///
    /// - Returns: nil if that cannot be seen.
    package func desktopKeyringHasItems() throws(SecretServiceFailure) -> Bool? {
        let bus: SessionBus
        do throws(SecretServiceFailure) {
            bus = try sessionBus()
        } catch {
            return nil
        }
        return try SecretServiceClient.mayHaveItems(on: bus)
    }

    /// Looks whether a Secret Service is running; starts nothing and reports no errors.
    package func desktopKeyring() throws(SecretServiceFailure) -> SecretServiceClient.Presence {
        let bus: SessionBus
        do throws(SecretServiceFailure) {
            bus = try sessionBus()
        } catch .noBus {
            return .absent
        } catch {
            return .unreachable
        }
        return try SecretServiceClient.presence(on: bus)
    }
}
