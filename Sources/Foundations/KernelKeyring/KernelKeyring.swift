package import ByteStreams
internal import CKeyUtils
internal import Glibc

/// Payloads in the Linux kernel's key retention service (keyrings(7)), as keys of type `user`.
///
/// Each key hangs in two keyrings of the user: the persistent one (persistent-keyring(7)), which outlives the last
/// logout and goes after three days without use, and the user keyring (user-keyring(7)). Where the kernel has no
/// persistent keyrings, the user keyring alone holds it. Every process of the user reaches the keys, whatever its
/// session: a cron job, a second login, `setsid`.
package struct KernelKeyring: KeyRetention {
    /// Bytes of the longest payload that is kept: a user's quota is 20,000 bytes for all programs (keyrings(7)).
    package static let payloadLimit = 1024

    // Owner and possessor may do everything; group and others nothing. Without the owner's part only processes that
    // share a session with the one that made the key could use it.
    private static let permissions = key_perm_t(KEY_POS_ALL | KEY_USR_ALL)
    // One name is at most once in a keyring; more come only from keyrings that somebody put into ours.
    private static let searchLimit = 16
    // Far longer than the few calls take that it must outlast; a process that is stopped longer loses the key.
    private static let passingSeconds = 5

    /// Uses the keyrings of the effective user.
    package init() {}

    /// See `KeyRetention`.
    package func read(_ name: String) throws(KeyRetentionFailure) -> SecretBytes? {
        let rings = try rings()
        for _ in 0..<Self.searchLimit {
            guard let key = try keys(name, in: rings).first else { return nil }
            // Nil when it was replaced since the search: the next search finds the other one.
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
            // Revoked by now, it was displaced by whoever kept another payload at the same time, which stands.
            guard try show(key, in: rings, expiresAfter: seconds) else { return }
            for other in old where other != key { try revoke(other) }
        } catch {
            keyctl_revoke(key)
            for ring in rings { keyctl_unlink(key, ring) }
            throw error
        }
    }

    /// See `KeyRetention`.
    ///
    /// keyctl_update(3) stops the clock of a key, so that a process killed behind it would leave one that never expires.
    /// So another key, complete, displaces the one that is there, for `passingSeconds` at first: whoever revokes the
    /// old one at the same time is seen only afterwards, and until then a kill must not leave more than these seconds.
    package func replace(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool {
        let rings = try rings()
        let old = try keys(name, in: rings)
        // A key that no ring shows is gone, and does not tell whether somebody revoked it: this thread holds it.
        guard let first = old.first,
            try Self.isThere(keyctl_link(first, KEY_SPEC_THREAD_KEYRING), "holding a key")
        else { return false }
        defer { keyctl_unlink(first, KEY_SPEC_THREAD_KEYRING) }
        // In a ring of its own, since one ring has no room for two keys of a name.
        let stage = unsafe add_key("keyring", name, nil, 0, KEY_SPEC_THREAD_KEYRING)
        try Self.check(Int(stage), "making a keyring")
        defer { keyctl_unlink(stage, KEY_SPEC_THREAD_KEYRING) }
        let key = try add(name, payload, to: stage)
        do throws(KeyRetentionFailure) {
            let passing = min(seconds ?? Self.passingSeconds, Self.passingSeconds)
            // Revoking the old key after the new one is shown decides: either it tells that somebody else was first, or
            // that one looks again, and finds the new key.
            guard try show(key, in: rings, expiresAfter: passing), try revoke(first), try Self.setTimeout(key, seconds)
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
                // A revoked key is empty; unlinking it only tidies up, and fails where the key hangs deeper.
                for ring in rings { keyctl_unlink(key, ring) }
            }
        }
        throw KeyRetentionFailure(EAGAIN, doing: "revoking a key that others keep making")
    }

    /// See `KeyRetention`; the kernel tells seconds below a minute, then minutes, hours, days and weeks.
    package func remainingSeconds(_ name: String) -> Int? {
        // What hides the list, as containers do, or fails there, leaves the answer unknown, which is its meaning.
        guard let rings = try? rings(), let key = try? keys(name, in: rings).first,
            let list = try? PrivateFile.readPublic(KeyList.path, limit: KeyList.sizeLimit)
        else { return nil }
        return list.withBytes { KeyList.remainingSeconds(of: key, in: $0) }
    }

    /// The keyrings that hold our keys, best one first; asking for the persistent one starts its three days anew.
    private func rings() throws(KeyRetentionFailure) -> [key_serial_t] {
        // A link in a ring of this thread makes us possess the persistent ring, which is what lets us write to it.
        let persistent = keyctl_get_persistent(uid_t.max, KEY_SPEC_THREAD_KEYRING)
        if persistent >= 0 { return [key_serial_t(truncatingIfNeeded: persistent), KEY_SPEC_USER_KEYRING] }
        let code = errno
        guard code == EOPNOTSUPP else { throw KeyRetentionFailure(code, doing: "asking for the persistent keyring") }
        return [KEY_SPEC_USER_KEYRING]
    }

    /// The live keys of a name, each once: two when somebody else put other ones into the rings.
    private func keys(_ name: String, in rings: [key_serial_t]) throws(KeyRetentionFailure) -> [key_serial_t] {
        var keys: [key_serial_t] = []
        for ring in rings {
            let found = unsafe keyctl_search(ring, "user", name, 0)
            guard try Self.isThere(found, "looking for a key") else { continue }
            let key = key_serial_t(truncatingIfNeeded: found)
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    /// The payload of a key; nil when the key is gone or was changed in between.
    private func payload(of key: key_serial_t) throws(KeyRetentionFailure) -> SecretBytes? {
        let size = keyctl_read(key, nil, 0)
        guard try Self.isThere(size, "reading a key") else { return nil }
        var payload = SecretBytes(capacity: size)
        var found = 0
        payload.append(upTo: size) { output in
            found = unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                let found = unsafe buffer.withMemoryRebound(to: CChar.self) {
                    unsafe keyctl_read(key, $0.baseAddress, $0.count)
                }
                // A payload that grew tells its size and writes nothing that is of use.
                if found == buffer.count { count = found }
                return found
            }
        }
        guard try Self.isThere(found, "reading a key"), found == size else { return nil }
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

    /// Links a new key into the rings, complete, with its clock; each link displaces the old key in one step.
    ///
    /// False when somebody who found the key in the first ring has revoked it before it was in the last.
    private func show(
        _ key: key_serial_t, in rings: [key_serial_t], expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool {
        try Self.check(keyctl_setperm(key, Self.permissions), "setting the permissions of a key")
        try Self.setTimeout(key, seconds)
        for ring in rings where keyctl_link(key, ring) < 0 {
            let failure = KeyRetentionFailure(errno, doing: "linking a key")
            guard try Self.isThere(keyctl_read(key, nil, 0), "reading a key") else { return false }
            throw failure
        }
        return true
    }

    /// Revokes a key; false when it was gone already.
    @discardableResult
    private func revoke(_ key: key_serial_t) throws(KeyRetentionFailure) -> Bool {
        try Self.isThere(keyctl_revoke(key), "revoking a key")
    }

    /// Sets the clock of a key; false when the key is gone.
    @discardableResult
    private static func setTimeout(_ key: key_serial_t, _ seconds: Int?) throws(KeyRetentionFailure) -> Bool {
        precondition(seconds ?? 1 > 0, "a key is kept for a second or longer")
        // The kernel's 0 stops the clock.
        return try isThere(keyctl_set_timeout(key, seconds.map { UInt32(clamping: $0) } ?? 0), "setting a timeout")
    }

    private static func require(_ payload: borrowing SecretBytes) {
        precondition((1...payloadLimit).contains(payload.count), "a payload has 1 to \(payloadLimit) bytes")
    }

    private static func check(_ status: Int, _ doing: String) throws(KeyRetentionFailure) {
        if status < 0 { throw KeyRetentionFailure(errno, doing: doing) }
    }

    /// False when the kernel says that there is no such key any more.
    private static func isThere(_ status: Int, _ doing: String) throws(KeyRetentionFailure) -> Bool {
        if status >= 0 { return true }
        let code = errno
        if code == ENOKEY || code == EKEYEXPIRED || code == EKEYREVOKED { return false }
        throw KeyRetentionFailure(code, doing: doing)
    }
}
