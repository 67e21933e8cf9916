package import KCByteStreams
internal import KCCryptography

/// Puts one device key in the place of another, which is kept beside it.
extension FileDeviceKeyProvider {
    /// Installs the key in an exported text in place of another one, which is kept as by `renew`.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `exportDamaged`, `damaged`, `file`, `cryptography`); the old key is then
    ///   still in place.
    package func replace(
        by text: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> DeviceKeyRenewal {
        let new = try moved(parse(exported: text, from: origin))
        return try change { () throws(DeviceKeyFailure) in
            let old = try read(path)
            return try replace(old, by: new)
        }
    }

    /// Installs the key in an exported text in place of a damaged file, which is kept as `<path>.retired-damaged`.
    ///
    /// - Throws: `DeviceKeyFailure` (`notFound`, `exists` if the file is not damaged, `exportDamaged`, `file`,
    ///   `cryptography`); the file is then still in place.
    package func replaceDamaged(
        by text: borrowing SecretBytes, from origin: String
    ) throws(DeviceKeyFailure) -> (device: DeviceKey, retiredPath: String) {
        let new = try moved(parse(exported: text, from: origin))
        return try change { () throws(DeviceKeyFailure) in
            let damaged = try DeviceKeyFailure.wrapping(PrivateFile.read(path, limit: DeviceKeyText.sizeLimit))
            guard try isDamaged() else { throw .exists(path: path) }
            let device = try device(of: new)
            let retiredPath = try retire(damaged, as: "damaged") { path throws(DeviceKeyFailure) in
                let other = try DeviceKeyFailure.wrapping(PrivateFile.read(path))
                return constantTimeEqual(damaged, other)
            }
            try replace(with: new, device)
            return (device, retiredPath)
        }
    }

    private func isDamaged() throws(DeviceKeyFailure) -> Bool {
        do throws(DeviceKeyFailure) {
            _ = try read(path)
            return false
        } catch {
            guard case .damaged = error else { throw error }
            return true
        }
    }

    /// Puts a key in the place of another one, which is kept.
    func replace(
        _ old: borrowing DeviceKeyContents, by new: borrowing DeviceKeyContents
    ) throws(DeviceKeyFailure) -> DeviceKeyRenewal {
        let oldID = try device(of: old).id
        let device = try device(of: new)
        let retiredPath = try retire(old, oldID)
        try replace(with: new, device)
        return DeviceKeyRenewal(device: device, retired: oldID, retiredPath: retiredPath)
    }

    /// Keeps an old key under the first name that is free.
    ///
    /// - Returns: the path.
    private func retire(
        _ old: borrowing DeviceKeyContents, _ id: DeviceID
    ) throws(DeviceKeyFailure) -> String {
        // The key of a device can have been retired in another form, as in a chip and in a file; each is kept.
        try retire(old.encode(id), as: "\(id)") { path throws(DeviceKeyFailure) in try isRetired(old, at: path) }
    }

    /// Keeps a text under the first name that is free.
    ///
    /// - Parameter isSame: true for the path of a file that an earlier call has left, which was then interrupted.
    /// - Returns: the path.
    private func retire(
        _ text: borrowing SecretBytes, as name: String, isSame: (String) throws(DeviceKeyFailure) -> Bool
    ) throws(DeviceKeyFailure) -> String {
        var number = 1
        while true {
            let retiredPath = "\(path).retired-\(name)" + (number == 1 ? "" : "-\(number)")
            do throws(FileFailure) {
                try PrivateFile.create(retiredPath, text)
                return retiredPath
            } catch {
                guard error.problem == .exists else { throw DeviceKeyFailure(error) }
            }
            if try isSame(retiredPath) { return retiredPath }
            number += 1
        }
    }

    private func isRetired(_ old: borrowing DeviceKeyContents, at path: String) throws(DeviceKeyFailure) -> Bool {
        do throws(DeviceKeyFailure) {
            return try read(path).isSameKey(as: old)
        } catch {
            switch error {
            // A file that cannot be read or parsed is not replaced.
            case .file, .damaged: return false
            default: throw error
            }
        }
    }
}
