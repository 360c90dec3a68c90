//! Abbreviations.

/// Abbreviations that are one part of a name, sorted. They are those of gobuffalo/flect 1.0.3, less the few in mixed case,
/// which it never finds.
#[rustfmt::skip]
pub(super) const ACRONYMS: &[&str] = &[
    "ACK", "ACL", "ADSL", "AES", "ANSI", "API", "ARP", "ATM", "BGP", "BSS", "CCITT", "CHAP", "CIDR",
    "CIR", "CLI", "CMOS", "CPE", "CPU", "CRC", "CRT", "CSMA", "DCE", "DEC", "DES", "DHCP", "DMI", "DNS",
    "DRAM", "DSL", "DSLAM", "DTE", "EHA", "EIA", "EIGRP", "EOF", "ESS", "FCC", "FCS", "FDDI", "FTP",
    "GBIC", "GEPOF", "HDLC", "HTML", "HTTP", "HTTPS", "IANA", "ICMP", "ID", "IDF", "IDS", "IEEE",
    "IETF", "IMAP", "IP", "IPS", "ISDN", "ISP", "JSON", "JWT", "LACP", "LAN", "LAPB", "LAPF", "LLC",
    "MAC", "MC", "MDF", "MIB", "MPLS", "MTU", "NAC", "NAT", "NBMA", "NIC", "NRZ", "NRZI", "NVRAM", "OK",
    "OSI", "OSPF", "OUI", "PAP", "PAT", "PC", "PCM", "PDU", "PIM", "POP3", "POTS", "PPP", "PPTP", "PTT",
    "PVST", "RAM", "RARP", "RCP", "RFC", "RIP", "RLL", "ROM", "RSTP", "RTP", "SDLC", "SFD", "SFP",
    "SLARP", "SLIP", "SMTP", "SNA", "SNAP", "SNMP", "SOF", "SQL", "SRAM", "SSH", "SSID", "STP", "SYN",
    "TDM", "TFTP", "TIA", "TOFU", "UDP", "URI", "URL", "USB", "UTF8", "UTP", "UUID", "VC", "VLAN",
    "VLSM", "VPN", "W3C", "WAN", "WEP", "WPA", "WWW",
];
