package speech

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newSoundCommand() *cobra.Command {
	return command.Group("sound", "Keep sounds that callers hear while somebody is called for them",
		"Sounds are recordings of three minutes at most, which go round until somebody has answered. Agents name one in\n"+
			"settings.hold_sound, which may also be ringing or music.",
		"  parley sound add waltz.mp3\n  parley sound list\n  parley sound get snd_… -o waltz.wav\n  parley sound delete snd_…",
		newSoundAdd(), newSoundList(), newSoundGet(), newSoundDelete())
}

func newSoundAdd() *cobra.Command {
	cmd := &cobra.Command{Use: "add FILE", Short: "Add a recording to the sounds of the account",
		Long:    "Sends a recording, - for standard input, and prints the identifier of the sound, which agents name in settings.hold_sound.",
		Example: "  parley sound add waltz.mp3\n  parley sound add --name Waltz - < waltz.wav", Args: cobra.ExactArgs(1)}
	name := cmd.Flags().String("name", "", "what the sound is called (default: the file's name)")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		called := *name
		if called == "" {
			called = strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))
		}
		recording, done, err := openRecording(cmd, args[0])
		if err != nil {
			return err
		}
		defer done()
		s, err := q.AddSound(q.Ctx, called, recording)
		if err != nil {
			return err
		}
		return q.AnswerText(s, s.ID+"\n")
	})
}

func newSoundList() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "list", Short: "List the sounds of the account", Long: "Lists the account's sounds, the newest first.",
		Example: "  parley sound list", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		list := []wire.Sound{}
		for s, err := range q.ListSounds(q.Ctx) {
			if err != nil {
				return err
			}
			list = append(list, s)
		}
		return q.Answer(map[string]any{"data": list}, func(w io.Writer) {
			fmt.Fprintln(w, "sound\tname\tlength\tcreated")
			for _, s := range list {
				fmt.Fprintf(w, "%s\t%s\t%v\t%s\n", s.ID, s.Name, time.Duration(s.DurationMS)*time.Millisecond, s.CreatedAt.Format(time.DateOnly))
			}
		})
	})
}

// fetched is what was written.
type fetched struct {
	File  string `json:"file"` // "-": standard output
	Bytes int64  `json:"bytes"`
}

func newSoundGet() *cobra.Command {
	cmd := &cobra.Command{Use: "get SOUND", Short: "Write a sound to a WAV file",
		Long:    "Writes a sound as callers hear it, as a WAV file; without -o to standard output when that is not a terminal.",
		Example: "  parley sound get snd_… -o waltz.wav", Args: cobra.ExactArgs(1)}
	out := cmd.Flags().StringP("out", "o", "", "WAV file for the sound, - for standard output")
	return server.Ask(cmd, "print what was written as one JSON object", func(q *server.Request, args []string) error {
		var did fetched
		err := q.WriteOutput(*out, func(to *server.Output, show *command.Progress) error {
			audio, err := q.SoundAudio(q.Ctx, args[0])
			if err != nil {
				return err
			}
			did.File = to.Path
			did.Bytes, err = server.Save(show, audio, to)
			return err
		})
		if err != nil {
			return err
		}
		return q.Done(did, "%s: %d bytes\n", did.File, did.Bytes)
	})
}

func newSoundDelete() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "delete SOUND", Short: "Delete a sound",
		Long:    "Deletes a sound, for good. Calls in which it plays go on with it; after them callers of agents that name it hear the ringing tone.",
		Example: "  parley sound delete snd_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		if err := q.DeleteSound(q.Ctx, args[0]); err != nil {
			return err
		}
		return q.AnswerText(map[string]any{"id": args[0], "deleted": true}, "deleted\t"+args[0]+"\n")
	})
}
