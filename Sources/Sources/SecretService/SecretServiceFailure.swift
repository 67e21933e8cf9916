/// Why the Secret Service cannot be used, or does not do what it was asked.
package enum SecretServiceFailure: Error, Hashable, Sendable {
    /// libsecret is not installed, or too old: this library or function is missing.
    case libraryMissing(String)
    /// There is no session bus at any of these paths.
    case noBus(lookedAt: [String])
    /// The socket of the bus belongs to another user.
    case foreignBus(path: String, owner: UInt32)
    /// What should be the socket of the bus is something else.
    case notASocket(path: String)
    /// The bus does not take the connection.
    case busRefuses(address: String, reason: String)
    /// The bus has no Secret Service, and cannot start one.
    case noService
    /// The bus could not start the Secret Service.
    case serviceDoesNotStart(reason: String)
    /// The Secret Service ended, or the bus did.
    case serviceEnded
    /// The Secret Service does not answer.
    case noAnswer
    /// The Secret Service offers no encrypted session.
    case sessionNotEncrypted
    /// These collections are locked, or hold a locked item.
    case locked([String])
    /// No collection has this label or alias.
    case noCollection(String)
    /// Several collections have this label.
    case severalCollections(String)
    /// There is no collection for items that come from elsewhere.
    case noDefaultCollection
    /// This collection does not exist, and making it takes a password.
    case collectionMissing(String)
    /// The service takes passwords in its own prompt alone.
    case passwordNotTaken
    /// The password of a collection is wrong.
    case wrongPassword(collection: String)
    /// The prompt of the desktop was closed.
    case promptDismissed
    /// The service refused a request; both texts are foreign.
    case request(Request, name: String, message: String)
    /// The service gave an answer that the interface does not know.
    case malformed(Request)
    /// Some of what was asked is written, this many items, and then came this.
    indirect case brokenOff(written: Int, because: SecretServiceFailure)
    case interrupted

    /// What was asked of the service.
    package enum Request: String, CaseIterable, Hashable, Sendable {
        case connecting = "opening a session"
        case listing = "listing collections"
        case reading = "reading an item"
        case secrets = "reading secrets"
        case unlocking = "unlocking a collection"
        case creatingCollection = "making a collection"
        case writing = "writing an item"
        case deleting = "deleting an item"
    }
}
