//go:build cgo

package main

import "parley/inference/worker"

// messages hands the server's messages to take, one by one, and answers pings. It returns the first error of in, out or take.
func messages(in *worker.Reader, out *worker.Writer, take func(worker.Message) error) error {
	for {
		m, err := in.Next()
		switch {
		case err != nil:
		case m.Kind == worker.Ping:
			err = out.Send(worker.Pong, 0, nil)
		default:
			err = take(m)
		}
		if err != nil {
			return err
		}
	}
}
