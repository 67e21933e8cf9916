import KCTestSupport
import Testing

@Suite("The list of libraries for the tarball", .waitsForPrograms)
struct LibraryListTests {
    // The names of Debian's packages follow from those of the libraries (Debian policy 8.1), save these.
    private static let exceptions = [
        "libcrypto.so.3": "libssl3", "libz.so.1": "zlib1g", "libtss2-esys.so.0": "libtss2-esys-3.0.2-0",
    ]
    // Loaded by a library that the programs load.
    private static let loadedByOthers = ["libtss2-tcti-device0"]
    // In each system, or of the toolchain that built the programs for tests.
    private static let others = ["libc.so", "libm.so", "ld-linux", "libswift", "lib_", "libFoundation", "libgcc_s"]

    private static func package(of library: String) -> String {
        if let exception = exceptions[library] { return exception }
        let parts = library.split(separator: ".")
        let (name, version) = (parts[0], parts.last ?? "")
        return "\(name)\(name.last?.isNumber == true ? "-" : "")\(version)"
    }

    @Test("It has the libraries that the programs are linked with, and those that they load")
    func complete() throws {
        var libraries: Set<String> = []
        for program in ["kcbackup", "kcbackup-fleet", "kcbackup-protect", "kcbackup-read", "security"] {
            let outcome = try ExternalProgram.run("objdump", ["-p", try ExternalProgram.built(program)])
            try #require(outcome.status == 0, "\(outcome.errorText)")
            libraries.formUnion(outcome.text.matches(of: /NEEDED +(\S+)/).map { String($0.1) })
        }
        libraries = libraries.filter { library in !Self.others.contains { library.hasPrefix($0) } }
        #expect(libraries.count > 5)
        let loading = Repository.sources.filter { $0.whole.contains("dlopen(") || $0.whole.contains(".so.") }
        let loaded = Set(loading.flatMap { $0.text.matches(of: /"(lib[\w+-]+\.so\.\d+)"/).map { String($0.1) } })
        #expect(!loaded.isEmpty)

        let page = try #require(Repository.others.first { $0.path == "docs/packaging.md" }).text
        let listed = page.matches(of: /(?m)^sudo apt-get install ([^#\n]+)/).flatMap { $0.1.split(separator: " ") }
        // A release build has Swift's libraries inside, which need those of C++.
        let needed = libraries.union(loaded).map(Self.package) + ["libstdc++6"] + Self.loadedByOthers
        #expect(Set(listed.map { String($0) }) == Set(needed))
    }
}
