package store

import (
	"testing"
	"testing/synctest"
	"time"
)

// The clock is the database's, runs on between readings, and does not jump for what an
// answer took on its way.
func TestClockFollowsTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		if got := c.now(); !got.Equal(time.Now()) {
			t.Errorf("before a reading it is %v", got)
		}
		const behind = 40 * 24 * time.Hour
		// ask has the database's answer take a while, there and back.
		ask := func(apart, there, back time.Duration) {
			asked := time.Now()
			time.Sleep(there)
			answer := time.Now().Add(-apart)
			time.Sleep(back)
			c.read(asked, answer)
		}
		check := func(what string, want time.Duration) {
			t.Helper()
			if got := time.Since(c.now()); got != want {
				t.Errorf("%s it is %v behind this machine; want %v", what, got, want)
			}
		}
		ask(behind, time.Millisecond, time.Millisecond)
		check("after a reading", behind)
		time.Sleep(time.Hour)
		check("an hour later", behind)
		ask(behind, 80*time.Millisecond, 0)
		ask(behind, 0, 80*time.Millisecond)
		check("after answers that took long", behind)
		ask(behind+time.Second, time.Millisecond, time.Millisecond)
		check("when the database's was set", behind+time.Second)
	})
}
