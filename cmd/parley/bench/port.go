package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// portDrops is how many datagrams the system has dropped because there was no room in the
// receive buffers of a UDP port's sockets: Linux counts them in the last column of a
// table (proc(5)). Elsewhere it is 0.
func portDrops(port uint16) (drops uint64) {
	for _, table := range []string{"/proc/self/net/udp", "/proc/self/net/udp6"} {
		b, _ := os.ReadFile(table)
		for row := range strings.Lines(string(b)) {
			f := strings.Fields(row)
			if len(f) < 3 || !strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
				continue
			}
			n, _ := strconv.ParseUint(f[len(f)-1], 10, 64)
			drops += n
		}
	}
	return drops
}
