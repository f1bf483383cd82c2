"""What people see of replays: tables, plots and pages."""
