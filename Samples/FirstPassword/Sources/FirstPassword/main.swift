import Security

#if os(Linux)
    // On Apple's systems every user has a keychain; here the first program that needs one creates it.
    try KeychainClient.openOrCreate(passcode: nil)
#endif

let passwords = Passwords()
if let password = try passwords.password(for: "ada") {
    print("ada: \(password)")
} else {
    try passwords.set("tulip", for: "ada")
    print("stored")
}
