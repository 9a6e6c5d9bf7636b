package bench

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/bench/endpoint"
	"parley/cmd/parley/command"
	"parley/media/codec"
)

// Command is the bench command with all under it.
func Command() *cobra.Command {
	return command.Group("bench", "Load and latency measurements: turn, endpoint, call, talk, tts, ledger, cell, report, compare",
		"Measures how fast and how many: each command starts what it needs, measures it and prints a table with its bars.",
		"  parley bench turn --leg ws --turns 100", newBenchTurn(), newBenchEndpoint(), newBenchCall(), newBenchTalk(), newBenchTTS(), newBenchLedger(), newBenchCell(), newBenchReport(), newBenchCompare(), newBenchLoad())
}

func newBenchTurn() *cobra.Command {
	var t Turn
	cmd := &cobra.Command{Use: "turn", Short: "How long the server takes to answer and to fall silent",
		Long: "Starts a server in this process whose engines answer at once, and callers who speak to it over real sockets.\n" +
			"The overhead of a turn is the time from when a caller sends the frame that completes 200 ms of silence to when it\n" +
			"receives the first of the answer. Speech differs from silence by its level, so that this frame is known exactly.",
		Example: "  parley bench turn --leg sip --turns 500 --calls 50", Args: cobra.NoArgs}
	cmd.Flags().StringVar(&t.Leg, "leg", "ws", "how the callers come: ws or sip")
	command.Complete(cmd, map[string][]string{"leg": {"ws", "sip"}})
	cmd.Flags().IntVar(&t.Turns, "turns", 100, "turns to measure, over all calls")
	cmd.Flags().IntVar(&t.Calls, "calls", 10, "calls at a time")
	cmd.Flags().IntVar(&t.Interruptions, "interruptions", 20, "interruptions to measure, over all calls")
	cmd.Flags().BoolVar(&t.Speculative, "speculative", true, "begin replies in pauses, as agents do that are not told otherwise")
	return measures(cmd, func() (measurement, error) { return t, nil })
}

func newBenchEndpoint() *cobra.Command {
	tuned := false
	cmd := &cobra.Command{Use: "endpoint", Short: "How often callers who pause are cut off, and how long the end of a turn is waited for",
		Long: "Plays scripted turns in six languages, with pauses of published lengths in them, to the rules of endpointing, in simulated\n" +
			"time: 100 of each language, which no rule was tuned on. A turn is cut when a pause in it is taken for its end. The\n" +
			"scorer is a fake that is wrong in 5 % of the pauses.",
		Example: "  parley bench endpoint\n  parley bench endpoint --tuned", Args: cobra.NoArgs}
	cmd.Flags().BoolVar(&tuned, "tuned", false, "play the other half, which the rules were tuned on")
	return measures(cmd, func() (measurement, error) {
		if tuned {
			return Endpoint{endpoint.Tuned}, nil
		}
		return Endpoint{endpoint.Judged}, nil
	})
}

func newBenchCall() *cobra.Command {
	var c Call
	cmd := &cobra.Command{Use: "call", Short: "What telephone calls cost, and whether any suffers",
		Long: "Starts a telephone in this process whose engines answer at once, and a second process that calls it. Callers and\n" +
			"agent each speak 40 % of the time. Processor time is given as a multiple of a floor measured in the same run:\n" +
			"one goroutine for each call that receives a packet and answers it.\n" +
			"With --leg webrtc the callers send packets that were encoded beforehand, and telephone calls are measured beside them;\n" +
			"with --codec the same calls in PCMU are.",
		Example: "  parley bench call --calls 100 --seconds 60 --vad\n  parley bench call --codec G722 --calls 100\n  parley bench call --leg webrtc --calls 100", Args: cobra.NoArgs}
	c.WarmUp, c.Rest = WarmUp, Rest
	cmd.Flags().StringVar(&c.Leg, "leg", "sip", "how the callers come: sip, or webrtc beside it")
	command.Complete(cmd, map[string][]string{"leg": {"sip", "webrtc"}})
	spoken := cmd.Flags().String("codec", codec.PCMU.String(), "the codec of telephone calls: "+codec.Names)
	command.Complete(cmd, map[string][]string{"codec": strings.Split(codec.Names, ", ")})
	cmd.Flags().IntVar(&c.Calls, "calls", 100, "calls at a time")
	seconds := cmd.Flags().Int("seconds", 60, "how long to measure, after all calls are up")
	cmd.Flags().BoolVar(&c.VAD, "vad", false, "with the voice activity detector instead of a threshold")
	cmd.Flags().BoolVar(&c.Denoise, "denoise", false, "with the detector and the denoiser")
	cmd.Flags().StringVar(&c.Profile, "cpuprofile", "", "write a CPU profile of the server's side to this file")
	return measures(cmd, func() (measurement, error) {
		var known bool
		if c.Codec, known = codec.Parse(*spoken); !known {
			return nil, command.UsageError("--codec: one of " + codec.Names)
		}
		self, err := os.Executable()
		c.Length, c.Generator = time.Duration(*seconds)*time.Second, []string{self, "bench", "load"}
		return c, err
	})
}

func newBenchTalk() *cobra.Command {
	var t Talk
	cmd := &cobra.Command{Use: "talk", Short: "How many callers the embedded engines can talk with",
		Long: "Starts a server with the embedded engines, and a second process whose callers come by telephone, four a second, and\n" +
			"ask a question every 8 s. The server refuses callers whom it could not serve without harm to the others: the rest are\n" +
			"what this machine carries. The callers' side takes part of the same processors.",
		Example: "  parley bench talk --calls 50", Args: cobra.NoArgs}
	cmd.Flags().IntVar(&t.Calls, "calls", 50, "calls that come, up to 100")
	cmd.Flags().StringVar(&t.Question, "question", "testdata/speech/opening-hours.wav", "WAV file in which somebody asks what time you open on Monday")
	seconds := cmd.Flags().Int("seconds", 60, "how long to measure, after all calls have come")
	return measures(cmd, func() (_ measurement, err error) {
		t.Program, err = os.Executable()
		t.Length = time.Duration(*seconds) * time.Second
		return t, err
	})
}

func newBenchTTS() *cobra.Command {
	var s Speech
	cmd := &cobra.Command{Use: "tts", Short: "How soon speech begins, and how many jobs the voices keep up with",
		Long: "Starts a server in this process that speaks with the embedded voices, and clients of its synthesis socket: first\n" +
			"one whose jobs follow each other, then many at once over two accounts. The first audio is timed from the request.",
		Example: "  parley bench tts --jobs 200 --streams 20", Args: cobra.NoArgs}
	cmd.Flags().IntVar(&s.Jobs, "jobs", 200, "jobs to measure, one after the other")
	cmd.Flags().IntVar(&s.Streams, "streams", 20, "jobs at once")
	return measures(cmd, func() (measurement, error) { return s, nil })
}

func newBenchLedger() *cobra.Command {
	var l Ledger
	cmd := &cobra.Command{Use: "ledger", Short: "How many checkpoints and sessions a second the books take",
		Long: "Starts a PostgreSQL of its own, or fills the empty database that is given, and has sessions report usage: through the\n" +
			"meter of one node, as a server does, on one wallet and over 200; as many nodes at once, each with transactions of its\n" +
			"own; and from start to close. Each rate stands beside that of bare updates with as many connections, measured in the\n" +
			"same run. Then all that was written is verified, and the command fails unless it adds up.",
		Example: "  parley bench ledger --seconds 10", Args: cobra.NoArgs}
	seconds := cmd.Flags().Int("seconds", 5, "how long each of the nine measurements takes")
	cmd.Flags().StringVar(&l.Database, "database", "", "URL of an empty database, which is left full; without it a server is started and removed again")
	return measures(cmd, func() (measurement, error) {
		l.Length = time.Duration(*seconds) * time.Second
		return l, nil
	})
}

func newBenchCell() *cobra.Command {
	var c Cell
	cmd := &cobra.Command{Use: "cell", Short: "Whether the books keep up with the calls of many nodes",
		Long: "Starts a PostgreSQL of its own, or fills the empty database that is given, and has telephone calls of three minutes come\n" +
			"and go on nodes in this process, without media: each starts, has a completion every eight seconds, asks for its line\n" +
			"minutes and ends, through the meter of its node. The books keep up when all that comes is stored, and no call waits for\n" +
			"a checkpoint for longer than ten seconds. Then all that was written is verified, and the command fails unless it adds up.",
		Example: "  parley bench cell --calls 10000 --nodes 10 --seconds 60", Args: cobra.NoArgs}
	cmd.Flags().IntVar(&c.Calls, "calls", 10_000, "calls at a time, over all nodes")
	cmd.Flags().IntVar(&c.Nodes, "nodes", 10, "nodes, each with a meter of its own")
	seconds := cmd.Flags().Int("seconds", 60, "how long to measure, after all calls have come")
	cmd.Flags().StringVar(&c.Database, "database", "", "URL of an empty database, which is left full; without it a server is started and removed again")
	return measures(cmd, func() (measurement, error) {
		c.Length = time.Duration(*seconds) * time.Second
		return c, nil
	})
}

func newBenchReport() *cobra.Command {
	return reports(&cobra.Command{Use: "report FILE...", Short: "Join results, and the output of Go benchmarks, into one table",
		Long:    "Joins files written with --json, and files of any other name with the output of \"go test -bench\", into one table.",
		Example: "  parley bench report --json latest.json turn.json call.json go.txt", Args: cobra.MinimumNArgs(1)}, Collect)
}

func newBenchCompare() *cobra.Command {
	cmd := &cobra.Command{Use: "compare --old FILE,... FILE...", Short: "Compare runs of an old build with runs of a new one",
		Long: "Compares the medians of files written with --json. What is worse by more than --percent, and by more than the old\n" +
			"runs differ among themselves, is marked, and the command fails. What has a floor is compared by it.",
		Example: "  parley bench compare --old old-1.json,old-2.json new-1.json new-2.json", Args: cobra.MinimumNArgs(1)}
	before := cmd.Flags().StringSlice("old", nil, "files of the old build's runs")
	percent := cmd.Flags().Float64("percent", 5, "by how much the new build may be worse")
	_ = cmd.MarkFlagRequired("old") // it is there
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		list, err := Compare(*before, args)
		if err != nil {
			return err
		}
		if err := PrintComparison(cmd.OutOrStdout(), list, *percent/100); err != nil {
			return err
		}
		for _, c := range list {
			if c.Beyond(*percent / 100) {
				return errors.New("the new build is worse")
			}
		}
		return nil
	}
	return cmd
}

// newBenchLoad is the second process of "bench call".
func newBenchLoad() *cobra.Command {
	return &cobra.Command{Use: "load", Short: "The load generator of bench call", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return Load(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		}}
}

// measurement is what a command measures.
type measurement interface {
	Run(context.Context) ([]Row, error)
}

// measures has a command make a measurement and report it.
func measures(cmd *cobra.Command, prepare func() (measurement, error)) *cobra.Command {
	return reports(cmd, func([]string) (*Report, error) {
		m, err := prepare()
		if err != nil {
			return nil, err
		}
		rows, err := m.Run(cmd.Context())
		return NewReport(rows), err
	})
}

// reports has a command print a report, and save it with --json.
func reports(cmd *cobra.Command, report func(args []string) (*Report, error)) *cobra.Command {
	save := cmd.Flags().String("json", "", "write the result to this file too")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := report(args)
		if err != nil {
			return err
		}
		if err := r.Print(cmd.OutOrStdout()); err != nil || *save == "" {
			return err
		}
		return r.Save(*save)
	}
	return cmd
}
