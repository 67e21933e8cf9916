// Fence: shares string objects between threads; nothing changes them.
// Values from SecItemConstants.c in Apple's Security-61901.
public import Foundation

/// FTP.
@safe public nonisolated(unsafe) let kSecAttrProtocolFTP: CFString = "ftp "
/// An FTP account.
@safe public nonisolated(unsafe) let kSecAttrProtocolFTPAccount: CFString = "ftpa"
/// HTTP.
@safe public nonisolated(unsafe) let kSecAttrProtocolHTTP: CFString = "http"
/// IRC.
@safe public nonisolated(unsafe) let kSecAttrProtocolIRC: CFString = "irc "
/// NNTP.
@safe public nonisolated(unsafe) let kSecAttrProtocolNNTP: CFString = "nntp"
/// POP3.
@safe public nonisolated(unsafe) let kSecAttrProtocolPOP3: CFString = "pop3"
/// SMTP.
@safe public nonisolated(unsafe) let kSecAttrProtocolSMTP: CFString = "smtp"
/// SOCKS.
@safe public nonisolated(unsafe) let kSecAttrProtocolSOCKS: CFString = "sox "
/// IMAP.
@safe public nonisolated(unsafe) let kSecAttrProtocolIMAP: CFString = "imap"
/// LDAP.
@safe public nonisolated(unsafe) let kSecAttrProtocolLDAP: CFString = "ldap"
/// AFP over AppleTalk.
@safe public nonisolated(unsafe) let kSecAttrProtocolAppleTalk: CFString = "atlk"
/// AFP over TCP.
@safe public nonisolated(unsafe) let kSecAttrProtocolAFP: CFString = "afp "
/// Telnet.
@safe public nonisolated(unsafe) let kSecAttrProtocolTelnet: CFString = "teln"
/// SSH.
@safe public nonisolated(unsafe) let kSecAttrProtocolSSH: CFString = "ssh "
/// FTP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolFTPS: CFString = "ftps"
/// HTTP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolHTTPS: CFString = "htps"
/// An HTTP proxy.
@safe public nonisolated(unsafe) let kSecAttrProtocolHTTPProxy: CFString = "htpx"
/// A proxy for HTTP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
/// An FTP proxy.
@safe public nonisolated(unsafe) let kSecAttrProtocolFTPProxy: CFString = "ftpx"
/// SMB.
@safe public nonisolated(unsafe) let kSecAttrProtocolSMB: CFString = "smb "
/// RTSP.
@safe public nonisolated(unsafe) let kSecAttrProtocolRTSP: CFString = "rtsp"
/// An RTSP proxy.
@safe public nonisolated(unsafe) let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
/// DAAP.
@safe public nonisolated(unsafe) let kSecAttrProtocolDAAP: CFString = "daap"
/// Remote Apple events.
@safe public nonisolated(unsafe) let kSecAttrProtocolEPPC: CFString = "eppc"
/// IPP.
@safe public nonisolated(unsafe) let kSecAttrProtocolIPP: CFString = "ipp "
/// NNTP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolNNTPS: CFString = "ntps"
/// LDAP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolLDAPS: CFString = "ldps"
/// Telnet over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolTelnetS: CFString = "tels"
/// IMAP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolIMAPS: CFString = "imps"
/// IRC over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolIRCS: CFString = "ircs"
/// POP3 over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolPOP3S: CFString = "pops"
/// NTLM.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
/// MSN.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeMSN: CFString = "msna"
/// Distributed password authentication.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
/// Remote password authentication.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
/// HTTP Basic.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
/// HTTP Digest.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
/// A form on a web page.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
/// The default for the protocol.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
