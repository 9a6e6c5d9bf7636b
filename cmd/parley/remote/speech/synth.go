package speech

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

var formats = []string{string(client.WAV), string(client.MP3), string(client.PCM), string(client.ULaw)}

// synthesis holds the flags of the synth command.
type synthesis struct {
	*server.Request
	speech  client.Speech
	file    string
	out     string
	format  string
	stream  bool
	show    *command.Progress
	started time.Time
}

// synthesized is what was done.
type synthesized struct {
	File       string  `json:"file"` // "-": standard output
	Format     string  `json:"format"`
	Characters int     `json:"characters"`
	Seconds    float64 `json:"seconds"` // of sound; 0: not known
	Bytes      int64   `json:"bytes"`
	LatencyMS  int64   `json:"latency_ms"` // until the first of the sound came
	TaskID     string  `json:"task_id,omitempty"`
}

func newSynthCommand() *cobra.Command {
	var s synthesis
	cmd := server.Ask(&cobra.Command{Use: "synth [TEXT]", Short: "Speak a text",
		Long: "Speaks a text and writes the sound to a file or, without -o, to standard output when that is not a terminal. The text\n" +
			"is the argument, standard input when that is -, or a file. Texts of more than 5,000 characters, and formats other than\n" +
			"wav, are made by the server in the background: there is a progress bar, and Ctrl-C cancels the task. With --stream raw\n" +
			"samples (Int16, 44.1 kHz, mono) come while they are made.",
		Example: "  parley synth \"Good morning\" -o morning.wav\n  parley synth --file book.txt --voice M3 --language es -o book.mp3\n" +
			"  echo 'Good morning' | parley synth - --stream | aplay -q -f S16_LE -r 44100",
		Args: cobra.MaximumNArgs(1)}, "print what was done as one JSON object", func(q *server.Request, args []string) error {
		s.Request = q
		return s.run(args)
	})
	fl := cmd.Flags()
	fl.StringVar(&s.file, "file", "", "file with the text")
	fl.StringVarP(&s.out, "out", "o", "", "file for the sound, - for standard output")
	fl.StringVar(&s.speech.Voice, "voice", "F1", "F1 to F5, M1 to M5")
	fl.StringVar(&s.speech.Language, "language", "en", strings.Join(wire.Languages, " "))
	fl.Float64Var(&s.speech.Speed, "speed", 0, "0.5 to 2.0 (the server's own is 1.05)")
	fl.IntVar(&s.speech.Steps, "steps", 0, "quality where the voice has it, 1 to 8 (the server's own is 6)")
	fl.StringVar(&s.speech.Engine, "engine", "", "one of the server's engines, for a wav in one piece (otherwise those that it uses)")
	fl.StringVar(&s.format, "format", "", "wav, mp3, pcm (44.1 kHz) or ulaw (8 kHz); otherwise as the file's name says, or wav")
	fl.BoolVar(&s.stream, "stream", false, "raw samples while they are made")
	cmd.MarkFlagsMutuallyExclusive("stream", "format")
	command.Complete(cmd, map[string][]string{"voice": wire.Voices, "language": wire.Languages, "format": formats})
	return cmd
}

// run reads the text, opens the output, speaks, and says what was done.
func (s *synthesis) run(args []string) (err error) {
	if s.speech.Text, err = s.text(args); err != nil {
		return err
	}
	if s.format, err = s.choose(); err != nil {
		return err
	}
	did := synthesized{Format: s.format, Characters: utf8.RuneCountInString(s.speech.Text)}
	err = s.WriteOutput(s.out, func(to *server.Output, show *command.Progress) error {
		s.show, s.started, did.File = show, time.Now(), to.Path
		return s.speak(to, &did)
	})
	if err != nil {
		return err
	}
	return s.Done(did, "%s: %s of sound, %d characters, the first came after %d ms\n", did.File, seconds(did.Seconds), did.Characters, did.LatencyMS)
}

// seconds is a length for people.
func seconds(s float64) string {
	if s == 0 {
		return "some"
	}
	return fmt.Sprintf("%.1f s", s)
}

// text is what to speak.
func (s *synthesis) text(args []string) (string, error) {
	var text string
	switch {
	case len(args) == 1 && s.file != "":
		return "", command.UsageError("give the text or --file, not both")
	case len(args) == 1 && args[0] != "-":
		text = args[0]
	case len(args) == 0 && s.file == "":
		return "", command.UsageError("what is to be spoken? Give the text, - for standard input, or --file")
	default:
		in, err := server.OpenInput(s.Command, cmp.Or(s.file, "-"))
		if err != nil {
			return "", err
		}
		defer in.Close()
		b, err := io.ReadAll(io.LimitReader(in, client.MaxLongText*utf8.UTFMax+1))
		if err != nil {
			return "", err
		}
		text = string(b)
	}
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text) && n <= client.MaxLongText:
		return "", command.UsageError("the text is not UTF-8")
	case strings.TrimSpace(text) == "":
		return "", command.UsageError("the text is empty")
	case n > client.MaxLongText, s.stream && n > client.MaxText:
		return "", command.UsageError(fmt.Sprintf("the text is too long: at most %d characters, with --stream %d", client.MaxLongText, client.MaxText))
	}
	return text, nil
}

// choose finds out the format of the output.
func (s *synthesis) choose() (string, error) {
	format, err := s.wanted()
	if err == nil && s.speech.Engine != "" && (format != string(client.WAV) || utf8.RuneCountInString(s.speech.Text) > client.MaxText) {
		err = command.UsageError(fmt.Sprintf("--engine goes with wav and at most %d characters", client.MaxText))
	}
	return format, err
}

// wanted is the format by flags and the name of the output.
func (s *synthesis) wanted() (string, error) {
	switch ending := strings.TrimPrefix(strings.ToLower(filepath.Ext(s.out)), "."); {
	case s.stream:
		return string(client.PCM), nil
	case s.format == "" && slices.Contains(formats, ending):
		return ending, nil
	case s.format == "":
		return string(client.WAV), nil
	case slices.Contains(formats, s.format):
		return s.format, nil
	}
	return "", command.UsageError(fmt.Sprintf("--format %s: wav, mp3, pcm or ulaw", s.format))
}

// speak picks the endpoint that does what is wanted.
func (s *synthesis) speak(to io.Writer, did *synthesized) error {
	switch {
	case s.stream:
		return s.streamed(to, did)
	case s.format != string(client.WAV), did.Characters > client.MaxText:
		return s.background(to, did)
	}
	audio, err := s.Synthesize(s.Ctx, s.speech)
	if err != nil {
		return err
	}
	return s.save(audio, to, did)
}

// streamed writes samples as they come.
func (s *synthesis) streamed(to io.Writer, did *synthesized) error {
	for k, err := range s.Stream(s.Ctx, s.speech) {
		if err != nil {
			return err
		}
		if did.Bytes == 0 {
			did.LatencyMS = time.Since(s.started).Milliseconds()
		}
		if err := binary.Write(to, binary.LittleEndian, k); err != nil {
			return err
		}
		did.Bytes += 2 * int64(len(k))
	}
	did.Seconds = thousandth(float64(did.Bytes) / 2 / client.StreamRate)
	return nil
}

// background has the server make the sound as a task, and fetches it.
func (s *synthesis) background(to io.Writer, did *synthesized) error {
	task, err := s.Submit(s.Ctx, s.speech, client.Format(s.format))
	if err != nil {
		return err
	}
	did.TaskID = task.TaskID
	s.show.Begin("speaking")
	task, err = s.Await(s.Ctx, did.TaskID, func(t *wire.Task) { s.show.Set(float64(t.Progress), 100) })
	if s.Ctx.Err() != nil {
		leaving, cancel := context.WithTimeout(context.WithoutCancel(s.Ctx), server.CancelPatience)
		defer cancel()
		if failed := s.Cancel(leaving, did.TaskID); failed != nil {
			return fmt.Errorf("%w; task %s goes on, it could not be cancelled: %w", err, did.TaskID, failed)
		}
		return fmt.Errorf("%w; the task was cancelled and costs nothing", err)
	}
	if err != nil {
		return err
	}
	audio, err := s.Download(s.Ctx, task.TaskID)
	if err != nil {
		return err
	}
	if task.Duration != nil {
		did.Seconds = *task.Duration
	}
	return s.save(audio, to, did)
}

// save writes sound that comes as a whole.
func (s *synthesis) save(audio *client.Audio, to io.Writer, did *synthesized) (err error) {
	did.LatencyMS = time.Since(s.started).Milliseconds()
	did.Bytes, err = server.Save(s.show, audio, to)
	switch {
	case did.Seconds > 0:
	case audio.Seconds > 0:
		did.Seconds = audio.Seconds
	case s.format == string(client.WAV) && did.Bytes > wavHeader:
		did.Seconds = float64(did.Bytes-wavHeader) / 2 / client.StreamRate
	}
	did.Seconds = thousandth(did.Seconds)
	return err
}

// wavHeader is the size in bytes of what stands before the samples.
const wavHeader = 44
