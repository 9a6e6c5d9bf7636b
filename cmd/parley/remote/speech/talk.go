package speech

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/spf13/cobra"

	rest "parley/api/client"
	"parley/api/wire"
	"parley/api/wsagent/client"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// talkFlags holds the flags of the talk command.
type talkFlags struct {
	*server.Address
	agent                   string
	in, out                 string
	prompt, voice, language string
	microphone, typed       bool
	quiet, longest          time.Duration

	heard *server.Output // nil: not kept
	text  io.Writer      // for what is said
}

func newTalkCommand() *cobra.Command {
	var f talkFlags
	cmd := &cobra.Command{Use: "talk --agent ID", Short: "Talk to an agent over a WebSocket",
		Long: "Talks to an agent over /ws/agent and prints what both sides say. The caller is a recording (--in: a WAV file, or - for\n" +
			"standard input, which may also be raw samples, Int16 at 16 kHz), your microphone (--microphone, through ALSA's arecord\n" +
			"and aplay), or what you type (--type, and without a microphone the default). With --out what was heard is written to a\n" +
			"WAV file. Without --agent, --prompt says what the agent is.",
		Example: "  parley talk --agent ag_… --in testdata/speech/opening-hours.wav --out answer.wav\n  parley talk --prompt 'We are open from nine to six.' --type\n" +
			"  parley synth 'What time do you open?' | parley talk --agent ag_… --in - --out - | aplay -q",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }}
	fl := cmd.Flags()
	f.Address = server.Flags(cmd)
	fl.StringVar(&f.agent, "agent", "", "the agent's identifier")
	fl.StringVar(&f.in, "in", "", "recording to say, - for standard input")
	fl.StringVar(&f.out, "out", "", "WAV file for what was heard, - for standard output")
	fl.StringVar(&f.prompt, "prompt", "", "what an agent without identifier is")
	fl.StringVar(&f.voice, "voice", "", "its voice: F1 to F5, M1 to M5")
	fl.StringVar(&f.language, "language", "", "its language: en es ca gl eu pt fr it de")
	fl.BoolVar(&f.microphone, "microphone", false, "speak and listen")
	fl.BoolVar(&f.typed, "type", false, "type what you say, a line for each turn; of lines from a pipe, each waits for the answer to the one before")
	fl.DurationVar(&f.quiet, "quiet", 2*time.Second, "with --in and --type: how long the agent must have been silent before hanging up")
	fl.DurationVar(&f.longest, "max", 5*time.Minute, "the longest the conversation may be")
	cmd.MarkFlagsOneRequired("agent", "prompt")
	cmd.MarkFlagsMutuallyExclusive("in", "microphone", "type")
	command.Complete(cmd, map[string][]string{"voice": wire.Voices, "language": wire.Languages})
	server.CompleteAgents(cmd)
	return cmd
}

// run talks in the way that the flags or the machine suggest.
func (f *talkFlags) run(cmd *cobra.Command) (err error) {
	if _, err := f.Client(); err != nil {
		return err
	}
	if f.Curl {
		return server.ErrNoCurl
	}
	ctx, stop := command.CtrlC(cmd)
	defer stop()
	f.text = cmd.OutOrStdout()
	if f.out != "" {
		if f.heard, err = server.OpenOutput(cmd, f.out, false); err != nil {
			return err
		}
		defer f.heard.Abandon()
		if f.heard.Path == "-" {
			f.text = cmd.ErrOrStderr() // the sound goes where the text would
		}
	}
	switch {
	case f.in != "":
		err = f.play(ctx, cmd)
	case f.microphone, !f.typed && hasSound():
		err = f.speak(ctx, cmd)
	default:
		err = f.write(ctx, cmd)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return &rest.UnreachableError{Server: f.URL, Err: op.Err}
	}
	return err
}

// play says a WAV file, prints the conversation and hangs up when it was answered.
func (f *talkFlags) play(ctx context.Context, cmd *cobra.Command) error {
	clip, err := readClip(cmd, f.in, client.RateIn)
	if err != nil {
		return err
	}
	show := &printer{out: cmd.ErrOrStderr()}
	result, err := client.Talk(ctx, client.TalkConfig{URL: f.URL, Key: f.Key, AgentID: f.agent, Voice: f.voice, Language: f.language, Prompt: f.prompt,
		Clip: clip, AwaitGreeting: true, Quiet: f.quiet, Max: f.longest, OnEvent: show.event})
	if err != nil {
		return err
	}
	for i, t := range result.Turns {
		fmt.Fprintf(show.out, "turn %d: the answer began %v after the question\n", i+1, t.Latency.Round(time.Millisecond))
	}
	if err := writeClip(f.heard, result.Heard, client.RateOut); err != nil {
		return err
	}
	return show.ended(result.Closed)
}

// EndError is why the server ended a conversation that neither side had finished.
type EndError struct {
	Code string // such as "agent.not_found"; empty when the server gave none
	why  string
}

func (e *EndError) Error() string { return e.why }

// printer shows a conversation as it goes.
type printer struct {
	out   io.Writer
	sound io.Writer  // nil: the voice is not heard
	fault wire.Fault // the latest
}

// ended is nil when a conversation ended with a goodbye.
func (p *printer) ended(c client.Closed) error {
	switch {
	case c.Code == websocket.CloseNormalClosure, c.Code == websocket.CloseNoStatusReceived:
		return nil
	case c.Reason != "":
		return &EndError{p.fault.Code, c.Reason}
	}
	return &EndError{p.fault.Code, fmt.Sprintf("the connection was lost (%d)", c.Code)}
}

// event runs on the connection's reader.
func (p *printer) event(e client.Event) {
	switch e.Kind {
	case client.Transcript:
		fmt.Fprintf(p.out, "%-5s  %s\n", e.Role, e.Text)
	case client.Correction:
		fmt.Fprintf(p.out, "%-5s  %s  (instead)\n", e.Role, e.Text)
	case client.Error:
		p.fault = e.Fault
		fmt.Fprintf(p.out, "error  %s: %s %s\n", e.Fault.Code, e.Fault.Message, e.Fault.Detail)
	case client.Audio:
		if p.sound != nil {
			_ = binary.Write(p.sound, binary.LittleEndian, e.Samples) // a speaker that is gone ends the command by itself
		}
	}
}

// connect opens a conversation and configures its agent.
func (f *talkFlags) connect(ctx context.Context, show *printer) (*client.Client, error) {
	record := time.Duration(0)
	if f.out != "" {
		record = f.longest
	}
	c, err := client.Dial(ctx, f.URL, f.Key, f.agent, client.Options{OnEvent: show.event, Record: record})
	if err != nil {
		return nil, err
	}
	for _, s := range []struct{ kind, value string }{{"voice", f.voice}, {"language", f.language}, {"prompt", f.prompt}} {
		if s.value != "" {
			if err := c.Control(s.kind, s.value); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// converse runs a conversation whose caller is say, until either ends it.
func (f *talkFlags) converse(ctx context.Context, show *printer, say func(ctx context.Context, c *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, f.longest)
	defer cancel()
	c, err := f.connect(ctx, show)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var said error
	wg.Go(func() {
		defer cancel()
		said = say(ctx, c)
	})
	closed := c.Run(ctx)
	cancel()
	wg.Wait()
	if err := writeClip(f.heard, c.Heard(time.Now()), client.RateOut); err != nil {
		return err
	}
	if err := show.ended(closed); err != nil {
		return err
	}
	if errors.Is(said, context.Canceled) || errors.Is(said, context.DeadlineExceeded) {
		return nil
	}
	return said
}

// write types to the agent: a line is a turn, the end of input hangs up. A person interrupts the agent by typing; lines
// that a program or a file sends wait for the answer to the one before.
func (f *talkFlags) write(ctx context.Context, cmd *cobra.Command) error {
	show := &printer{out: f.text}
	fmt.Fprintln(cmd.ErrOrStderr(), "Type to the agent; Ctrl-D hangs up.")
	lines := make(chan string)
	scan := bufio.NewScanner(cmd.InOrStdin())
	go func() { // ends with the process: reading a terminal cannot be interrupted
		defer close(lines)
		for scan.Scan() {
			lines <- scan.Text()
		}
	}()
	waits := !command.IsTerminal(cmd.InOrStdin())
	return f.converse(ctx, show, func(ctx context.Context, c *client.Client) error {
		var said time.Time
		for {
			if waits {
				if err := f.hearOut(ctx, c, said); err != nil {
					return err
				}
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case line, ok := <-lines:
				if !ok {
					return f.hearOut(ctx, c, said)
				}
				said = time.Now()
				if err := c.SendText(line); err != nil {
					return err
				}
			}
		}
	})
}

// answerPatience bounds the wait for the beginning of an answer: a line may have none.
const answerPatience = 30 * time.Second

// hearOut waits until the agent has answered what was said then, or greeted where nothing was.
func (f *talkFlags) hearOut(ctx context.Context, c *client.Client, said time.Time) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	since := time.Now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-tick.C:
			quiet := c.QuietAt()
			answered := said.IsZero() || quiet.After(said) || now.Sub(said) >= answerPatience
			if answered && now.Sub(quiet) >= f.quiet && now.Sub(since) >= f.quiet {
				return nil
			}
		}
	}
}

func hasSound() bool {
	_, record := exec.LookPath("arecord")
	_, play := exec.LookPath("aplay")
	_, device := os.Stat("/dev/snd")
	return record == nil && play == nil && device == nil
}

// speak talks by microphone and speaker, through ALSA's programs.
func (f *talkFlags) speak(ctx context.Context, cmd *cobra.Command) error {
	if !hasSound() {
		return errors.New("there is no microphone: install alsa-utils, or use --in or --type")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	record := exec.CommandContext(ctx, "arecord", "-q", "-t", "raw", "-f", "S16_LE", "-c", "1", "-r", fmt.Sprint(int(client.RateIn)))
	play := exec.CommandContext(ctx, "aplay", "-q", "-t", "raw", "-f", "S16_LE", "-c", "1", "-r", fmt.Sprint(int(client.RateOut)))
	microphone, err := record.StdoutPipe()
	if err != nil {
		return err
	}
	speaker, err := play.StdinPipe()
	if err != nil {
		return err
	}
	for _, p := range []*exec.Cmd{record, play} {
		p.Stderr = cmd.ErrOrStderr()
		if err := p.Start(); err != nil {
			return err
		}
		defer func() { cancel(); _ = p.Wait() }()
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "Speak; Ctrl-C hangs up. Headphones keep the agent from hearing itself.")
	return f.converse(ctx, &printer{out: f.text, sound: speaker}, func(ctx context.Context, c *client.Client) error {
		return sendMicrophone(ctx, c, microphone)
	})
}

// sendMicrophone sends 20 ms at a time.
func sendMicrophone(ctx context.Context, c *client.Client, in io.Reader) error {
	var raw [640]byte
	for ctx.Err() == nil {
		if _, err := io.ReadFull(in, raw[:]); err != nil {
			return err
		}
		if err := c.Send(samplesOf(raw[:])); err != nil {
			return err
		}
	}
	return ctx.Err()
}
