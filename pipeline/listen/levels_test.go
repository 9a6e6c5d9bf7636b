package listen

import "testing"

func TestLevels(t *testing.T) {
	var l levels
	hear := func(level float32, n int) {
		for range n {
			l.hear(Activity{Level: level})
		}
	}
	hear(-90, 200)
	if l.loud(-49) || !l.loud(-48) {
		t.Error("an unknown caller is loud from -48 dBFS on where it is quiet")
	}
	hear(-50, 300)
	if l.loud(-43) || !l.loud(-42) {
		t.Error("and from 8 dB above the background")
	}
	hear(-25, 800)
	if l.loud(-31) || !l.loud(-30) {
		t.Error("and from -30 dBFS on wherever it is")
	}
	turn := func(level float32, n int) {
		for range n {
			l.turn.add(level)
		}
	}
	turn(-60, 10)
	l.drop()
	turn(-20, 50)
	l.commit()
	if !l.loud(-32) || l.loud(-32.5) {
		t.Errorf("12 dB below a turn at -20: the caller is at %v", l.caller)
	}
	turn(-40, 50)
	l.commit()
	if l.caller != -25 {
		t.Errorf("a quieter turn moves the level to %v, want a quarter of the way", l.caller)
	}
	l.commit()
	if l.caller != -25 {
		t.Error("a turn without speech says nothing")
	}
}
