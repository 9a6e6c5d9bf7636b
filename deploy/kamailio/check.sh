#!/bin/bash
# Says whether the edge works on this machine. keepalived asks it every 2 s, and has the
# other machine take the address over when it fails several times.
#
#   check.sh ADDRESS PORT [RELAY_ADDRESS RELAY_PORT]    those of Kamailio and of rtpengine's commands
set -u
address=$1 port=$2 relay=/dev/udp/${3-127.0.0.1}/${4-2223}

# Who has not got the address runs neither of both, and may have it at any time.
[ -n "$(ip -o address show to "$address")" ] || exit 0

# answers ADDRESS QUESTION sends a datagram and prints the one that comes back within 3 s.
answers() {
	exec 3<>"$1" && printf '%b' "$2" | dd bs=2000 iflag=fullblock status=none >&3 && timeout 3 dd bs=2000 count=1 status=none <&3
}

id=$$-$RANDOM
[[ $(answers "/dev/udp/$address/$port" "OPTIONS sip:$address:$port SIP/2.0\r
Via: SIP/2.0/UDP $address:9;branch=z9hG4bK$id;rport\r
From: <sip:check@$address>;tag=$id\r
To: <sip:$address:$port>\r
Call-ID: $id\r
CSeq: 1 OPTIONS\r
Max-Forwards: 70\r
Content-Length: 0\r\n\r\n") == "SIP/2.0 200 "* ]] || { echo "Kamailio does not answer at $address:$port" >&2; exit 1; }
[[ $(answers "$relay" "$id d7:command4:pinge") == "$id "*pong* ]] || { echo "rtpengine does not answer at $relay" >&2; exit 1; }
