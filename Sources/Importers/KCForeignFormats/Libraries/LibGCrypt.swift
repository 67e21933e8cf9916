internal import CKCGCrypt
internal import KCCryptography

/// The functions of libgcrypt, loaded when they are first needed.
enum LibGCrypt {
    /// The name of the library for the dynamic linker.
    private static let name = "libgcrypt.so.20"

    private static let functions: cgcrypt_functions? = {
        var functions = cgcrypt_functions()
        return unsafe cgcrypt_load(&functions, name) ? functions : nil
    }()

    /// Loads the library, if it is there.
    static func prepare() { _ = functions }

    /// The functions.
    static func load() throws(CryptographyFailure) -> cgcrypt_functions {
        guard let functions else { throw .libraryMissing(name) }
        return functions
    }
}
