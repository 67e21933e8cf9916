/// Makes zip files with uncompressed members for tests.
package enum ZipWriter {
    /// Returns a zip file with these members, in order.
    package static func zip(_ members: [(name: String, content: [UInt8])]) -> [UInt8] {
        var file: [UInt8] = []
        var directory: [UInt8] = []
        for member in members {
            let name = Array(member.name.utf8)
            let offset = file.count
            // Version 2.0, names in UTF-8, stored.
            let fields =
                little(20, 2) + little(0x800, 2) + little(0, 2) + little(0, 2) + little(0x21, 2)
                + little(Int(checksum(member.content)), 4) + little(member.content.count, 4)
                + little(member.content.count, 4) + little(name.count, 2) + little(0, 2)
            file += [0x50, 0x4b, 3, 4] + fields + name + member.content
            directory +=
                [0x50, 0x4b, 1, 2] + little(20, 2) + fields + little(0, 2) + little(0, 2) + little(0, 2)
                + little(0o100600 << 16, 4) + little(offset, 4) + name
        }
        let start = file.count
        file += directory
        file +=
            [0x50, 0x4b, 5, 6] + little(0, 4) + little(members.count, 2) + little(members.count, 2)
            + little(directory.count, 4) + little(start, 4) + little(0, 2)
        return file
    }

    private static func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// The CRC-32 of zip.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xffff_ffff
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xedb8_8320 : 0) }
        }
        return ~crc
    }
}
