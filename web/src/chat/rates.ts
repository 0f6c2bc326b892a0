// The speed of an answer over its time, in at most so many points.
import type { Timings } from "../api/timings";

const MOST = 120;

export class Rates {
  private tokens = 0; // at the last point
  private ms = 0;
  private begun = false;
  private each = 1; // parts that make up a point
  private parts = 0;
  points: number[] = [];

  // The first part sets the clock: its token was counted before it ran.
  add(timings: Timings): void {
    if (!this.begun) {
      this.begun = true;
      this.tokens = timings.predicted_n;
      this.ms = timings.predicted_ms;
      return;
    }
    if (++this.parts < this.each) return;
    const tokens = timings.predicted_n - this.tokens;
    const ms = timings.predicted_ms - this.ms;
    if (tokens <= 0 || ms <= 0) return;
    this.parts = 0;
    this.tokens = timings.predicted_n;
    this.ms = timings.predicted_ms;
    this.points = [...this.points, Math.round((10_000 * tokens) / ms) / 10];
    if (this.points.length > MOST) this.halve();
  }

  // Two points become one, so a long answer has as many as a short one.
  private halve(): void {
    const halved: number[] = [];
    for (let i = 0; i + 1 < this.points.length; i += 2) {
      halved.push((this.points[i]! + this.points[i + 1]!) / 2);
    }
    this.points = halved;
    this.each *= 2;
  }
}
