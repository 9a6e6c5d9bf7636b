package webrtc_test

import "net"

func loopback(ip net.IP) bool { return ip.IsLoopback() && ip.To4() != nil }
