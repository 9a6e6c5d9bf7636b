package sip_test

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// atOnce is how many tests run side by side: they wait for timers and for other programs more
// than they compute. Those that share what the process has, as the places of faults, do not.
const atOnce = 4

func TestMain(m *testing.M) {
	flag.Parse()
	if n, _ := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); n < atOnce {
		_ = flag.Set("test.parallel", strconv.Itoa(atOnce)) // it is a flag, and a number
	}
	os.Exit(m.Run())
}
