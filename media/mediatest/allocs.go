package mediatest

import "testing"

// NoAllocs fails the test when f allocates, on average over 100 calls after one
// to warm up. It skips the test under the race detector, which allocates itself.
func NoAllocs(t testing.TB, f func()) {
	t.Helper()
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	if n := testing.AllocsPerRun(100, f); n != 0 {
		t.Errorf("allocates %v times a call, want 0", n)
	}
}

// RealTime skips a test that needs a machine that keeps time. The race detector
// does not; make test runs these tests once more without it, one package after
// the other. Their names contain RealTime.
func RealTime(t testing.TB) {
	t.Helper()
	if raceEnabled || testing.Short() {
		t.Skip("real time: run without the race detector")
	}
}
