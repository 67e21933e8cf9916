internal import KCByteStreams
internal import KCCryptography

/// The clear part of a wallet: MD5 hashes of the names of its folders and entries.
///
/// KDE uses it to check whether an entry exists without opening the wallet. The index is verified by comparing it with
/// the content.
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

    /// Sorted, since the order in the file has no meaning.
    private let folders: [Folder]

    init(_ folders: [Folder]) {
        self.folders = folders.sorted()
    }

    /// Makes the index for the content of a wallet.
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
