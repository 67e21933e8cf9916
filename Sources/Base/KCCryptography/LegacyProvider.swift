internal import CKCLibCrypto

extension LibCrypto {
    /// A context with the ciphers that only old files use (RC2, RC4, DES, Blowfish); nil if they are not installed.
    ///
    /// The context lives as long as the process and is used only to read such files.
    nonisolated(unsafe) static let legacyContext: OpaquePointer? = {
        defer { ERR_clear_error() }
        guard let context = unsafe OSSL_LIB_CTX_new() else { return nil }
        guard unsafe OSSL_PROVIDER_load(context, "default") != nil, unsafe OSSL_PROVIDER_load(context, "legacy") != nil
        else {
            unsafe OSSL_LIB_CTX_free(context)
            return nil
        }
        return unsafe context
    }()
}

/// The ciphers that only old files use.
package enum LegacyCiphers {
    /// Loads them, if they are installed.
    package static func prepare() { _ = unsafe LibCrypto.legacyContext }
}
