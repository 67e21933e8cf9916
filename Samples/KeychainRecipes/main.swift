import Foundation
import Security

#if os(Linux)
    try KeychainClient.openOrCreate(passcode: nil)
#endif

switch CommandLine.arguments.dropFirst().first {
case "installation":
    print(try installationID())
case "version-1":
    UserDefaults.standard.set("tulip", forKey: "token")
    UserDefaults.standard.synchronize()
case "version-2":
    try moveSecret(named: "token", from: .standard)
default:
    print("usage: KeychainRecipes installation | version-1 | version-2")
    exit(64)
}
