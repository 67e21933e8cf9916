internal import CKCYAML
internal import KCByteStreams

/// The functions of libyaml, loaded when they are first needed.
enum LibYAML {
    /// The name of the library for the dynamic linker.
    private static let name = "libyaml-0.so.2"

    private static let functions: cyaml_functions? = {
        var functions = cyaml_functions()
        return unsafe cyaml_load(&functions, name) ? functions : nil
    }()

    /// Loads the library, if it is there.
    static func prepare() { _ = functions }

    /// The functions.
    static func load() throws(StreamFailure) -> cyaml_functions {
        guard let functions else { throw StreamFailure(.reading, .libraryMissing(name)) }
        return functions
    }
}
