internal import ByteStreams
internal import Cryptography

/// What a wallet says in the clear: MD5 of the names of its folders and entries.
///
/// KDE looks up in it whether there is an entry without opening the wallet. Nothing proves it but the content.
struct WalletIndex: Equatable {
    struct Folder: Equatable, Comparable {
        let name: [UInt8]
        let keys: [[UInt8]]

        init(name: [UInt8], keys: [[UInt8]]) {
            self.name = name
            self.keys = keys.sorted { $0.lexicographicallyPrecedes($1) }
        }

        static func < (one: Folder, other: Folder) -> Bool {
            (one.name + one.keys.joined()).lexicographicallyPrecedes(other.name + other.keys.joined())
        }
    }

    /// Sorted, since the order says nothing.
    private let folders: [Folder]

    init(_ folders: [Folder]) {
        self.folders = folders.sorted()
    }

    /// The index of what a wallet holds.
    init(of names: [(folder: String, keys: [String])]) throws(CryptographyFailure) {
        var folders: [Folder] = []
        for (folder, keys) in names {
            var hashes: [[UInt8]] = []
            for key in keys { hashes.append(try Self.hash(key)) }
            folders.append(Folder(name: try Self.hash(folder), keys: hashes))
        }
        self.init(folders)
    }

    private static func hash(_ name: String) throws(CryptographyFailure) -> [UInt8] {
        let hash = try HashFunction.md5.hash(name.utf8.span)
        return hash.withBytes { $0.array(0..<$0.count) }
    }
}
