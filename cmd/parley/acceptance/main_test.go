package acceptance

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"parley/api/dashboard/dashboardtest"
	"parley/store/storetest"
)

// patience only bounds a hang; nothing here asserts how long something takes.
const patience = time.Minute

// atOnce is how many tests run together: each is a conversation or more in real
// time, and a machine that is too busy breaks the callers' timing, not ours.
const atOnce = "2"

// Programs of this run.
var (
	programs string // directory of all
	parley   string // the program, for commands
	served   string // the program, for servers
)

// raced has servers run under the race detector, which the tests of cmd/parley/node do anyway. make soak asks for it.
var raced = flag.Bool("raced", false, "servers run under the race detector")

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err) // the flag is the testing package's own
	}
	if flag.Lookup("rapid.seed").Value.String() == "0" {
		// The same requests each time, unless somebody asks for others.
		if err := flag.Set("rapid.seed", "20261"); err != nil {
			panic(err) // and this one rapid's
		}
	}
	os.Exit(run(m))
}

func run(m *testing.M) (status int) {
	if os.Getenv(fakesEnv) != "" {
		return m.Run() // it needs no server
	}
	dir, err := os.MkdirTemp("", "parley-acceptance-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status = storetest.Run(dashboardtest.Closing(m))
	if faults := endShared(); len(faults) > 0 {
		for _, f := range faults {
			fmt.Fprintln(os.Stderr, "FAIL:", f)
		}
		return 1
	}
	return status
}

// soak skips a long proof unless it is asked for.
func soak(t *testing.T) {
	t.Helper()
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
}

func build(dir string) error {
	// The account of the speech workers has to pass through.
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	programs, parley = dir, filepath.Join(dir, "parley")
	served = parley
	builds := [][]string{{"-o", parley, "parley/cmd/parley"}, {"-o", filepath.Join(dir, "parley-speech"), "parley/cmd/parley-speech"}}
	if *raced {
		served = filepath.Join(dir, "parley-race")
		builds = append(builds, []string{"-race", "-o", served, "parley/cmd/parley"})
	}
	for _, b := range builds {
		cmd := exec.Command("go", append([]string{"build", "-buildvcs=false"}, b...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
		}
	}
	return nil
}
