package main

import (
	"context"
	"fmt"

	"parley/cmd/parley/local"
	"parley/store"
	"parley/store/private"
)

// startDatabase finds out where the database is, and runs it when it is ours.
func (s *server) startDatabase(ctx context.Context) error {
	s.databaseURL = s.cfg.DatabaseURL
	if s.databaseURL == "" {
		cluster, err := private.Start(ctx, private.Options{Dir: private.Dir(s.dataDir), Log: s.log})
		if err != nil {
			return local.Advise(err)
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
