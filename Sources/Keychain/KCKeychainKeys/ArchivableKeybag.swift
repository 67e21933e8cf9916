package import KCCryptography
package import KCDeviceIdentity

/// The part of a keybag that goes into an archive: no escrow and token records, since restoring it would bring back
/// those that were removed since, and no keys of files, since no restore would put them anywhere.
extension Keybag {
    /// The same keybag as it goes into an archive, which needs only the device key.
    package func archivable(_ deviceKey: DeviceKey) throws(CryptographyFailure) -> Keybag {
        if escrow == nil, tokens.isEmpty, files.isEmpty { return self }
        var contents = contents
        contents.escrow = nil
        contents.tokens = []
        contents.files = WrappedFileKeys()
        return try Keybag(contents, passcodeCode: passcodeCode, DeviceKeys(deviceKey, uuid))
    }

    /// Checks that an archive may have this keybag.
    package func requireArchivable() throws(KeybagFailure) {
        if escrow != nil { throw .damaged("the keybag of an archive has an escrow record") }
        if !tokens.isEmpty { throw .damaged("the keybag of an archive has token records") }
        if !files.isEmpty { throw .damaged("the keybag of an archive has keys of files") }
    }
}
