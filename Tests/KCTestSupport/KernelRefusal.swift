package import KCKernelKeyring

extension KernelKeyring {
    /// The error with which the kernel refuses this process its key service, as in many containers; nil if it does not.
    package static let refusal: KeyRetentionFailure? = {
        do throws(KeyRetentionFailure) {
            _ = try KernelKeyring().read("kcbackup-test:no such key")
            return nil
        } catch {
            return error
        }
    }()
}
