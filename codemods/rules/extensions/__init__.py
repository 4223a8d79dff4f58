"""What a project builds on Lightning's extension points: strategies, plugins, loggers, progress bars, profilers."""
