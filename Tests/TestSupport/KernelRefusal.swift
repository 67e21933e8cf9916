package import KernelKeyring

extension KernelKeyring {
    /// What this kernel says to a process that wants to use its key service, as many containers do; nil when it may.
    package static let refusal: KeyRetentionFailure? = {
        do throws(KeyRetentionFailure) {
            _ = try KernelKeyring().read("kcbackup-test:no such key")
            return nil
        } catch {
            return error
        }
    }()
}
