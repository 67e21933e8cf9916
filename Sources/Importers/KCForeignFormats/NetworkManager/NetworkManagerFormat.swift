internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The connections of NetworkManager (`*.nmconnection`): one file, or a folder of them.
///
/// Source: nm-settings-keyfile(5) and nm-settings(5).
package struct NetworkManagerFormat: ForeignFormat {
    package let kind = ForeignKind.networkManager

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return try !Self.names(in: input.path).isEmpty }
        return Self.isConnection(file)
    }

    /// True for a file with a group for the connection, and in it an ID or a UUID, and a type.
    private static func isConnection(_ file: ForeignFile) -> Bool {
        guard file.bytes.count <= ConnectionFile.sizeLimit else { return false }
        return file.bytes.withBytes { bytes in
            guard bytes.holds("[connection]") else { return false }
            do throws(ForeignFailure) {
                guard let connection = try ConnectionFile(bytes)["connection"] else { return false }
                return connection["type"] != nil && (connection["id"] != nil || connection["uuid"] != nil)
            } catch {
                // Reading it says what is wrong.
                return bytes.holds("\nuuid=") && bytes.holds("\ntype=")
            }
        }
    }

    /// The connections in a folder, sorted.
    private static func names(in path: String) throws(FileFailure) -> [String] {
        var unreadable = 0
        return try Path.names(in: path, unreadable: &unreadable).filter {
            $0.exact.hasSuffix(ending) && !$0.exact.hasPrefix(".")
        }.sorted { $0.exact < $1.exact }
    }

    static let ending = ".nmconnection"

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard case .folder = input.content else {
            guard let file = input.file, Self.isConnection(file) else {
                throw ForeignFailure.notOfFormat(title: title)
            }
            let collector = RecordCollector(format: name, date: file.modified)
            try collector.record(file.name) { () throws(ForeignFailure) in try Connection(file).add(to: collector) }
            return try collector.finish(details: "", isPlaintext: true)
        }
        let collector = RecordCollector(format: name, date: .reference)
        let names = try Self.names(in: input.path)
        for name in names {
            try collector.record(name) {
                let path = input.path + "/" + name
                guard try Path.kind(of: path) == .file else { throw ForeignFailure.damaged("it is not a file") }
                let file = try ForeignFile(reading: OpenFile.reading(path))
                guard Self.isConnection(file) else { throw ForeignFailure.damaged("it is not a connection") }
                try Connection(file).add(to: collector)
            }
        }
        let folder = try ForeignFolder(input.path)
        // A connection may have been removed in the meantime.
        collector.leaveOut("file beside the connections", max(0, folder.files.count + folder.others - names.count))
        collector.leaveOut("file whose name is not UTF-8", folder.unreadable)
        return try collector.finish(details: "folder", isPlaintext: true)
    }
}
