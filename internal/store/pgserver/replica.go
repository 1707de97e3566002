package pgserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// replicaName is the application name of a replica at its primary.
const replicaName = "replica"

// Replica starts a second server that replicates this one by streaming, and
// makes commits here wait for it: once it returns, everything acknowledged is
// on both.
func (s *Server) Replica() (*Server, error) {
	replica, err := prepare("", s.password, s.copyTo)
	if err != nil {
		return nil, err
	}
	// Only after the copy: once promoted, the replica must not wait for a
	// replica of its own.
	err = s.configure("synchronous_standby_names = '" + replicaName + "'\n")
	if err == nil {
		err = s.control("reload")
	}
	if err == nil {
		err = s.awaitSynchronous()
	}
	if err != nil {
		return nil, errors.Join(err, replica.Discard())
	}
	return replica, nil
}

// copyTo fills another server's directory with a copy that replicates this one.
func (s *Server) copyTo(ctx context.Context, to *Server) error {
	cmd := s.owner.command(ctx, s.program("pg_basebackup"), "--pgdata="+to.data(), "--write-recovery-conf", "--checkpoint=fast",
		"--wal-method=stream", fmt.Sprintf("--dbname=host=127.0.0.1 port=%d user=postgres application_name=%s", s.port, replicaName))
	cmd.Env = append(cmd.Env, "PGPASSWORD="+s.password)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w\n%s", err, out)
	}
	return to.configure(to.socketSetting())
}

// awaitSynchronous returns once commits wait for the replica.
func (s *Server) awaitSynchronous() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for {
		var ready bool
		err := conn.QueryRow(ctx, `SELECT current_setting('synchronous_standby_names') <> ''
			AND EXISTS (SELECT FROM pg_stat_replication WHERE application_name = $1 AND sync_state = 'sync')`, replicaName).Scan(&ready)
		if err != nil || ready {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the replica does not follow: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Promote makes a replica the primary and returns when it accepts writes.
func (s *Server) Promote() error { return s.control("promote", "--wait") }

// DSNWith returns an address that names this server and then the other, and
// connects to the one that accepts writes.
func (s *Server) DSNWith(other *Server) string {
	return s.address("sslmode=disable&target_session_attrs=read-write", s, other)
}
