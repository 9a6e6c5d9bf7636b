package main

import (
	"context"
	"errors"
	"fmt"

	"parley/cmd/parley/config"
	"parley/store"
	"parley/store/private"
)

// startDatabase finds out where the database is, and runs it when it is ours.
func (s *server) startDatabase(ctx context.Context) error {
	s.databaseURL = s.cfg.DatabaseURL
	if s.databaseURL == "" {
		cluster, err := private.Start(ctx, private.Options{Dir: private.Dir(s.dataDir), Log: s.log})
		if err != nil {
			return advise(err)
		}
		s.databaseURL = cluster.URL()
		s.life.run("database", func(ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-cluster.Done():
			}
			return cluster.Stop()
		})
	}
	s.health.add("database", s.pingDatabase)
	if err := s.pingDatabase(ctx); err != nil {
		return fmt.Errorf("the database does not answer: %w", err)
	}
	return nil
}

// pingDatabase opens a connection of its own: it must notice a database that
// refuses new ones.
func (s *server) pingDatabase(ctx context.Context) error {
	conn, err := store.Connect(ctx, s.databaseURL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return conn.Ping(ctx)
}

// advise adds the way out that only this program knows.
func advise(err error) error {
	switch {
	case errors.Is(err, private.ErrNotInstalled):
		return fmt.Errorf("%w (or set PARLEY_DATABASE_URL)", err)
	case errors.Is(err, private.ErrVersion):
		return fmt.Errorf("%w (to go on with a newer PostgreSQL: parley backup DIR with the old one still installed, move the data directory aside, parley restore DIR)", err)
	case errors.Is(err, private.ErrUnreachable):
		return fmt.Errorf("%w (set PARLEY_DATA_DIR to a directory that it can reach, such as %s)", err, config.SystemDataDir)
	}
	return fmt.Errorf("start the private database: %w", err)
}
