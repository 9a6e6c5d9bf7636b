package pipeline

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"parley/media"
)

// ways are the frames whose way is measured.
var ways = map[string]struct{ caller, agent bool }{
	"nobody speaks":     {false, false},
	"the caller speaks": {true, false},
	"the agent speaks":  {false, true},
}

const (
	// mostFiles is how many files of pipeline and its packages one frame may enter.
	mostFiles = 6
	// framesOf is the variable of the environment that makes TestFrames the child of TestWayOfAFrame: the name of the way and
	// how many frames come.
	framesOf = "PARLEY_FRAMES"
	// manyFrames is how many frames more one run has than the other. What differs by less is not of a frame, such as what
	// goroutines do at the end of the call.
	manyFrames = 100
)

// TestWayOfAFrame keeps the way of a frame short enough to read: what a child, built to count how often each line runs, runs
// once or more for each further frame, from the leg to the leg, is in few files.
func TestWayOfAFrame(t *testing.T) {
	dir := t.TempDir()
	child, profile := filepath.Join(dir, "frames.test"), filepath.Join(dir, "profile")
	if out, err := exec.Command("go", "test", "-c", "-covermode=count", "-coverpkg=parley/pipeline/...", "-o", child, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(t *testing.T, name string, frames int) map[string]int {
		cmd := exec.Command(child, "-test.run=^TestFrames$", "-test.coverprofile="+profile)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s/%d", framesOf, name, frames))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(profile)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for line := range strings.Lines(string(b)) {
			if fields := strings.Fields(line); len(fields) == 3 {
				if counts[fields[0]], err = strconv.Atoi(fields[2]); err != nil {
					t.Fatal(err)
				}
			}
		}
		return counts
	}
	for name := range ways {
		t.Run(name, func(t *testing.T) {
			before, after := run(t, name, manyFrames), run(t, name, 2*manyFrames)
			files := map[string]bool{}
			for block, n := range after {
				if file, _, _ := strings.Cut(block, ":"); n-before[block] >= manyFrames {
					files[strings.TrimPrefix(file, "parley/")] = true
				}
			}
			way := slices.Sorted(maps.Keys(files))
			if !files["pipeline/frame.go"] || len(way) > mostFiles {
				t.Errorf("a frame enters %d files, want %d at most: %s", len(way), mostFiles, strings.Join(way, ", "))
			}
		})
	}
}

// TestFrames is the child of TestWayOfAFrame.
func TestFrames(t *testing.T) {
	name, n, child := strings.Cut(os.Getenv(framesOf), "/")
	if !child {
		return
	}
	frames, err := strconv.Atoi(n)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		call := steadyCall(t, media.Rate8k, steadily(ways[name].caller), ways[name].agent, nil)
		for range frames {
			call.tick()
		}
	})
}
