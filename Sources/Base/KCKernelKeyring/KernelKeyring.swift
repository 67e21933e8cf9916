internal import CKCKeyUtils
internal import Glibc
package import KCByteStreams

/// Payloads in the Linux kernel's key retention service (keyrings(7)), as keys of type `user`.
///
/// Each key is linked into two keyrings of the user: the persistent one (persistent-keyring(7)), which survives the
/// last logout and expires after three days without use, and the user keyring (user-keyring(7)). On a kernel without
/// persistent keyrings only the user keyring is used. Every process of the user can reach the keys, whatever its
/// session: a cron job, a second login, `setsid`.
package struct KernelKeyring: KeyRetention {
    /// The size limit of a payload in bytes; a user's quota is 20,000 bytes across all programs (keyrings(7)).
    package static let payloadLimit = 1024

    // The owner and a possessor have all permissions, group and others none. Without the owner's permissions, only
    // processes in the creator's session could use the key.
    private static let permissions = key_perm_t(KEY_POS_ALL | KEY_USR_ALL)
    // A keyring holds at most one key of a name; more can only come from keyrings that another program linked into
    // ours.
    private static let searchLimit = 16
    // Much longer than the few calls it covers. If the process is stopped for longer, the key is lost.
    private static let provisionalSeconds = 5

    /// Uses the keyrings of the effective user.
    package init() {}

    /// See `KeyRetention`.
    package func read(_ name: String) throws(KeyRetentionFailure) -> SecretBytes? {
        let rings = try rings()
        for _ in 0..<Self.searchLimit {
            guard let key = try keys(name, in: rings).first else { return nil }
            // Nil if the key was replaced since the search; the next search finds the new one.
            if let payload = try payload(of: key) { return payload }
        }
        throw KeyRetentionFailure(EAGAIN, doing: "reading a key that others keep changing")
    }

    /// See `KeyRetention`.
    package func keep(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) {
        let rings = try rings()
        let old = try keys(name, in: rings)
        let key = try add(name, payload, to: KEY_SPEC_THREAD_KEYRING)
        defer { keyctl_unlink(key, KEY_SPEC_THREAD_KEYRING) }
        do throws(KeyRetentionFailure) {
            // If the key is already revoked, a concurrent keep() replaced it, and its payload stays.
            guard try link(key, in: rings, expiresAfter: seconds) else { return }
            for other in old where other != key { try revoke(other) }
        } catch {
            keyctl_revoke(key)
            for ring in rings { keyctl_unlink(key, ring) }
            throw error
        }
    }

    /// See `KeyRetention`.
    ///
    /// keyctl_update(3) clears a key's timeout, so a process killed right after it would leave a key that never
    /// expires. Therefore a complete new key replaces the old one, initially with a timeout of `provisionalSeconds`:
    /// whether another process revoked the old key is known only afterwards, and a kill before that must not leave the
    /// new key for longer.
    package func replace(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool {
        let rings = try rings()
        let old = try keys(name, in: rings)
        // A key that is in no keyring is gone, and cannot show whether it was revoked; this thread's keyring keeps it.
        guard let first = old.first,
            try Self.keyExists(keyctl_link(first, KEY_SPEC_THREAD_KEYRING), "holding a key")
        else { return false }
        defer { keyctl_unlink(first, KEY_SPEC_THREAD_KEYRING) }
        // The new key needs a keyring of its own, since one keyring cannot hold two keys of the same name.
        let stage = unsafe add_key("keyring", name, nil, 0, KEY_SPEC_THREAD_KEYRING)
        try Self.check(Int(stage), "making a keyring")
        defer { keyctl_unlink(stage, KEY_SPEC_THREAD_KEYRING) }
        let key = try add(name, payload, to: stage)
        do throws(KeyRetentionFailure) {
            let provisional = min(seconds ?? Self.provisionalSeconds, Self.provisionalSeconds)
            // Revoking the old key after the new one is linked settles the race: either this call fails because another
            // process revoked it first, or that process searches again and finds the new key.
            guard try link(key, in: rings, expiresAfter: provisional), try revoke(first),
                try Self.setTimeout(key, seconds)
            else {
                try revoke(key)
                return false
            }
            for other in old.dropFirst() where other != key { try revoke(other) }
            return true
        } catch {
            keyctl_revoke(key)
            throw error
        }
    }

    /// See `KeyRetention`.
    package func expire(_ name: String, after seconds: Int?) throws(KeyRetentionFailure) {
        for key in try keys(name, in: rings()) { try Self.setTimeout(key, seconds) }
    }

    /// See `KeyRetention`.
    package func revoke(_ name: String) throws(KeyRetentionFailure) {
        let rings = try rings()
        for _ in 0..<Self.searchLimit {
            let keys = try keys(name, in: rings)
            if keys.isEmpty { return }
            for key in keys {
                try revoke(key)
                // A revoked key is empty; unlinking it is only cleanup, and fails if the key is in a nested keyring.
                for ring in rings { keyctl_unlink(key, ring) }
            }
        }
        throw KeyRetentionFailure(EAGAIN, doing: "revoking a key that others keep making")
    }

    /// See `KeyRetention`; the kernel reports seconds below a minute, then minutes, hours, days and weeks.
    package func remainingSeconds(_ name: String) -> Int? {
        // If the list cannot be read or is hidden, as in containers, the answer is nil: unknown.
        guard let rings = try? rings(), let key = try? keys(name, in: rings).first,
            let list = try? PrivateFile.readPublic(KeyList.path, limit: KeyList.sizeLimit)
        else { return nil }
        return list.withBytes { KeyList.remainingSeconds(of: key, in: $0) }
    }

    /// The keyrings that hold our keys, the preferred one first; requesting the persistent one restarts its three days.
    private func rings() throws(KeyRetentionFailure) -> [key_serial_t] {
        // The link in this thread's keyring makes us possess the persistent keyring, which is required to write to it.
        let persistent = keyctl_get_persistent(uid_t.max, KEY_SPEC_THREAD_KEYRING)
        if persistent >= 0 { return [key_serial_t(truncatingIfNeeded: persistent), KEY_SPEC_USER_KEYRING] }
        let code = errno
        guard code == EOPNOTSUPP else { throw KeyRetentionFailure(code, doing: "asking for the persistent keyring") }
        return [KEY_SPEC_USER_KEYRING]
    }

    /// The live keys of a name, without duplicates; several only if another program linked keys of its own into ours.
    private func keys(_ name: String, in rings: [key_serial_t]) throws(KeyRetentionFailure) -> [key_serial_t] {
        var keys: [key_serial_t] = []
        for ring in rings {
            let found = unsafe keyctl_search(ring, "user", name, 0)
            guard try Self.keyExists(found, "looking for a key") else { continue }
            let key = key_serial_t(truncatingIfNeeded: found)
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    /// The payload of a key; nil if the key is gone or has changed in the meantime.
    private func payload(of key: key_serial_t) throws(KeyRetentionFailure) -> SecretBytes? {
        let size = keyctl_read(key, nil, 0)
        guard try Self.keyExists(size, "reading a key") else { return nil }
        var payload = SecretBytes(capacity: size)
        var found = 0
        payload.append(upTo: size) { output in
            found = unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                let found = unsafe buffer.withMemoryRebound(to: CChar.self) {
                    unsafe keyctl_read(key, $0.baseAddress, $0.count)
                }
                // If the payload has grown, the call returns only its size and does not fill the buffer.
                if found == buffer.count { count = found }
                return found
            }
        }
        guard try Self.keyExists(found, "reading a key"), found == size else { return nil }
        return payload
    }

    private func add(
        _ name: String, _ payload: borrowing SecretBytes, to ring: key_serial_t
    ) throws(KeyRetentionFailure) -> key_serial_t {
        Self.require(payload)
        let key = payload.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { unsafe add_key("user", name, $0.baseAddress, $0.count, ring) }
        }
        try Self.check(Int(key), "making a key")
        return key
    }

    /// Links a complete new key, with its timeout, into the keyrings; each link atomically replaces the old key.
    ///
    /// - Returns: false if another process found the key in the first keyring and revoked it before it was in the last.
    private func link(
        _ key: key_serial_t, in rings: [key_serial_t], expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool {
        try Self.check(keyctl_setperm(key, Self.permissions), "setting the permissions of a key")
        try Self.setTimeout(key, seconds)
        for ring in rings where keyctl_link(key, ring) < 0 {
            let failure = KeyRetentionFailure(errno, doing: "linking a key")
            guard try Self.keyExists(keyctl_read(key, nil, 0), "reading a key") else { return false }
            throw failure
        }
        return true
    }

    /// Revokes a key; false if it was already gone.
    @discardableResult
    private func revoke(_ key: key_serial_t) throws(KeyRetentionFailure) -> Bool {
        try Self.keyExists(keyctl_revoke(key), "revoking a key")
    }

    /// Sets the timeout of a key; false if the key is gone.
    @discardableResult
    private static func setTimeout(_ key: key_serial_t, _ seconds: Int?) throws(KeyRetentionFailure) -> Bool {
        precondition(seconds ?? 1 > 0, "a key is kept for a second or longer")
        // 0 removes the timeout.
        return try keyExists(keyctl_set_timeout(key, seconds.map { UInt32(clamping: $0) } ?? 0), "setting a timeout")
    }

    private static func require(_ payload: borrowing SecretBytes) {
        precondition((1...payloadLimit).contains(payload.count), "a payload has 1 to \(payloadLimit) bytes")
    }

    private static func check(_ status: Int, _ doing: String) throws(KeyRetentionFailure) {
        if status < 0 { throw KeyRetentionFailure(errno, doing: doing) }
    }

    /// False if the kernel reports that the key no longer exists.
    private static func keyExists(_ status: Int, _ doing: String) throws(KeyRetentionFailure) -> Bool {
        if status >= 0 { return true }
        let code = errno
        if code == ENOKEY || code == EKEYEXPIRED || code == EKEYREVOKED { return false }
        throw KeyRetentionFailure(code, doing: doing)
    }
}
