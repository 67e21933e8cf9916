import KCByteStreams
import KCCryptography
import KCDeviceIdentity

/// An armored SSH signature (OpenSSH `PROTOCOL.sshsig`) in any namespace.
func sshSignature(_ message: [UInt8], by device: DeviceKey, namespace: String) throws -> [UInt8] {
    func field(_ bytes: [UInt8]) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }
    func field(_ text: String) -> [UInt8] { field(Array(text.utf8)) }
    let magic = Array("SSHSIG".utf8)
    let middle = field(namespace) + field("") + field("sha512")
    let signature = try device.sign(magic + middle + field(HashFunction.sha512.digest(of: message.span)))
    let key = field(field("ssh-ed25519") + field(device.signingPublicKey))
    let blob = magic + [0, 0, 0, 1] + key + middle + field(field("ssh-ed25519") + field(signature))
    var text = "-----BEGIN SSH SIGNATURE-----\n"
    for (index, character) in Base64.encode(blob).enumerated() {
        if index > 0, index % 70 == 0 { text += "\n" }
        text.append(character)
    }
    return Array((text + "\n-----END SSH SIGNATURE-----\n").utf8)
}
