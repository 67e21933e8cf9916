internal import KCStoreTasks
internal import KCTerminal

extension Session {
    /// The names of the keychains whose passcodes a TPM counts; others that cannot be opened are warned of.
    func countedKeychains() throws -> [String] {
        let counted = try CountedKeychains(in: machine)
        for failure in counted.failures { warn(self.failure(of: failure).explanation.message) }
        return counted.names
    }
}
