//! Renderers: human, concise, json. They never decide, they show a report.
