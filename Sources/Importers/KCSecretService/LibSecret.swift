internal import CKCLibSecret

/// The functions of libsecret and GLib, loaded when they are first needed.
enum LibSecret {
    /// The table of functions; none of them may be called before `load` has returned.
    nonisolated(unsafe) static let functions: UnsafePointer<csecret_functions> = unsafe UnsafePointer(table)

    /// The name of the library for the dynamic linker.
    static let name = "libsecret-1.so.0"

    nonisolated(unsafe) private static let table = {
        let table = UnsafeMutablePointer<csecret_functions>.allocate(capacity: 1)
        unsafe table.initialize(to: csecret_functions())
        return unsafe table
    }()

    private static let missing: String? = unsafe csecret_load(table, name).map { unsafe String(cString: $0) }

    /// Makes sure that the functions can be called.
    static func load() throws(SecretServiceFailure) {
        if let missing { throw .libraryMissing(missing) }
    }
}
